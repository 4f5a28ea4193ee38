// The guides as static files, by the rules of axe.

import { deepEqual } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { exportDocs } from '../../../scripts/export-docs.ts'
import { openBrowser } from '../../harness/http/open-browser.ts'
import { findFaults, fitsItsWidth } from '../harness/find-faults.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey docs '))
let browser: Browser
let files: readonly string[]
before(async () => {
  ;[files, browser] = await Promise.all([exportDocs(folder), openBrowser()])
})
after(async () => {
  await browser.close()
  rmSync(folder, { recursive: true })
})

test('every static page keeps the rules of accessibility by day and by night, on a desk and on a phone', async () => {
  const page = await browser.newPage()
  const faults: string[] = []
  for (const [at, file] of files.entries()) {
    await page.setViewportSize(at % 2 === 0 ? { width: 390, height: 844 } : { width: 1_280, height: 800 })
    await page.emulateMedia({ colorScheme: at % 4 < 2 ? 'light' : 'dark' })
    await page.goto(`${pathToFileURL(folder).href}/${file}`)
    faults.push(...(await findFaults(page)).map((fault) => `${file}: ${fault}`))
    if (!(await fitsItsWidth(page))) faults.push(`${file}: too wide`)
  }
  deepEqual(faults, [])
})
