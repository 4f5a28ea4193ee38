import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { chromium as playwright, type Browser } from 'playwright-core'

const folder = join(import.meta.dirname, '../../../node_modules/.cache/browser')

/** A real browser, which is part of a package: nothing has to be installed on the machine. */
export async function openBrowser(moreArguments: readonly string[] = []): Promise<Browser> {
  if (!existsSync(folder)) unpackBrowser()
  // What the package would set switches safeguards off that are to be tested.
  const args = [
    '--headless=shell',
    '--no-sandbox',
    '--no-zygote',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    ...moreArguments,
  ]
  return playwright.launch({ executablePath: join(folder, 'chromium'), args })
}

/**
 * Once for each installation. The package unpacks into the folder for temporary files, where other users' files are too.
 *
 * Another process does it: what else this one makes in the meantime, a service's data folder for one, must not be made
 * in a folder that is renamed afterwards.
 */
function unpackBrowser(): void {
  const unpacking = `${folder}.${process.pid}`
  mkdirSync(unpacking, { recursive: true })
  const program = `const { default: chromium } = await import(${JSON.stringify(import.meta.resolve('@sparticuz/chromium'))})
    await chromium.executablePath()`
  execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, TMPDIR: unpacking },
    stdio: 'inherit',
  })
  try {
    renameSync(unpacking, folder)
  } catch (error) {
    // Another process was faster.
    rmSync(unpacking, { recursive: true })
    if (!existsSync(folder)) throw error
  }
}
