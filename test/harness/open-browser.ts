import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import chromium from '@sparticuz/chromium'
import { chromium as playwright, type Browser } from 'playwright-core'

const folder = join(import.meta.dirname, '../../node_modules/.cache/browser')

/** A real browser, which is part of a package: nothing has to be installed on the machine. */
export async function openBrowser(): Promise<Browser> {
  if (!existsSync(folder)) await unpackBrowser()
  // What the package would set switches safeguards off that are to be tested.
  const args = ['--headless=shell', '--no-sandbox', '--no-zygote', '--disable-gpu', '--disable-dev-shm-usage']
  return playwright.launch({ executablePath: join(folder, 'chromium'), args })
}

/** Once for each installation. The package unpacks into the folder for temporary files, where other users' files are too. */
async function unpackBrowser(): Promise<void> {
  const unpacking = `${folder}.${process.pid}`
  const { TMPDIR } = process.env
  mkdirSync(unpacking, { recursive: true })
  process.env['TMPDIR'] = unpacking
  try {
    await chromium.executablePath()
  } finally {
    if (TMPDIR === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = TMPDIR
  }
  try {
    renameSync(unpacking, folder)
  } catch (error) {
    // Another process was faster.
    rmSync(unpacking, { recursive: true })
    if (!existsSync(folder)) throw error
  }
}
