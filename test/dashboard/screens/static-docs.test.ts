// The guides as static files, in a real browser: from a disk, where pages may fetch nothing, and from a folder of a plain
// web server.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { createReadStream, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { exportDocs } from '../../../scripts/export-docs.ts'
import { guideGroups, slugOf } from '../../../web/guides/guide-list.ts'
import { findFaults, fitsItsWidth } from '../harness/find-faults.ts'
import { openBrowser } from '../../harness/http/open-browser.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey docs '))
const types: Readonly<Record<string, string>> = { html: 'text/html', css: 'text/css', js: 'text/javascript' }
/** Serves the files below a path that they know nothing of, and nothing else. */
const server = createServer(({ url = '' }, response) => {
  const [, name] = /^\/somewhere\/else\/([\w/.-]*)$/.exec(url) ?? []
  const file = join(folder, name === '' ? 'index.html' : (name ?? 'none'))
  if (name === undefined || !existsSync(file) || statSync(file).isDirectory()) return void response.writeHead(404).end()
  response.writeHead(200, { 'content-type': types[file.split('.').at(-1) ?? ''] ?? 'text/plain' })
  createReadStream(file).pipe(response)
})

let browser: Browser
let files: readonly string[]
let origins: Readonly<Record<string, string>>
before(async () => {
  ;[files, browser] = await Promise.all([exportDocs(folder), openBrowser()])
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  origins = { disk: `${pathToFileURL(folder).href}/`, server: `http://127.0.0.1:${port}/somewhere/else/` }
})
after(async () => {
  await browser.close()
  server.close()
  rmSync(folder, { recursive: true })
})

test('every guide is a page, and so is the reference of either API', () => {
  const guides = guideGroups.flatMap((group) => group.files.map((file) => `guides/${slugOf(file)}.html`))
  deepEqual(
    [...files].toSorted(),
    ['index.html', 'reference/models.html', 'reference/management.html', ...guides].toSorted(),
  )
})

test('a folder in which something else is stays as it is', async () => {
  const other = mkdtempSync(join(tmpdir(), 'odyssey-docs-other-'))
  writeFileSync(join(other, 'mine.txt'), 'mine')
  await rejects(exportDocs(other), /is not empty/)
  rmSync(other, { recursive: true })
})

/** A page whose console errors and failed requests are kept. */
async function openPage(): Promise<{ readonly page: Page; readonly faults: string[] }> {
  const page = await browser.newPage()
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())))
  page.on('requestfailed', (request) => faults.push(request.url()))
  return { page, faults }
}

type Seen = { readonly ids: readonly string[]; readonly links: readonly string[]; readonly title: string }

for (const place of ['disk', 'server']) {
  suite(`from a ${place}`, () => {
    test('every page opens, and every link leads to a page and a place on it', async () => {
      const { page, faults } = await openPage()
      const origin = origins[place] ?? ''
      const seen = new Map<string, Seen>()
      for (const file of files) {
        await page.goto(origin + file)
        seen.set(
          origin + file,
          await page.evaluate(() => ({
            ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
            links: [...document.querySelectorAll('a')].map(({ href }) => href),
            title: document.querySelector('h1')?.textContent ?? '',
          })),
        )
      }
      let count = 0
      for (const [address, { links, title }] of seen) {
        ok(title !== '', address)
        for (const link of links) {
          if (link.startsWith('https:')) continue
          const [target = '', anchor = ''] = link.split('#')
          const there = seen.get(target)
          ok(there !== undefined, `${address} links to ${link}`)
          ok(anchor === '' || there.ids.includes(decodeURIComponent(anchor)), `${address} links to ${link}`)
          count += 1
        }
      }
      ok(count > 1_000)
      deepEqual(faults, [])
      await page.close()
    })

    test('a reader finds what is said, and comes to it', async () => {
      const { page, faults } = await openPage()
      await page.goto(`${origins[place]}guides/running.html`)
      await page.getByLabel('Find').fill('halve workrs')
      await page.getByRole('link', { name: 'Pacing' }).first().click()
      await page.waitForURL(/guides\/customers-limits\.html#pacing$/)
      await page.getByRole('heading', { name: 'Pacing' }).waitFor()
      await page.getByLabel('Find').fill('xyzzyx')
      await page.getByText('Nothing is said of that.').waitFor()
      await page.getByLabel('Find').fill('')
      await page.getByRole('heading', { level: 1 }).waitFor()
      deepEqual(faults, [])
      await page.close()
    })
  })
}

test('every page keeps the rules of accessibility by day and by night, on a desk and on a phone', async () => {
  const { page } = await openPage()
  const faults: string[] = []
  for (const [at, file] of files.entries()) {
    await page.setViewportSize(at % 2 === 0 ? { width: 390, height: 844 } : { width: 1_280, height: 800 })
    await page.emulateMedia({ colorScheme: at % 4 < 2 ? 'light' : 'dark' })
    await page.goto((origins['disk'] ?? '') + file)
    faults.push(...(await findFaults(page)).map((fault) => `${file}: ${fault}`))
    if (!(await fitsItsWidth(page))) faults.push(`${file}: too wide`)
  }
  deepEqual(faults, [])
  await page.close()
})

test('without scripts all is there but the search', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto(`${origins['disk']}index.html`)
  equal(await page.getByLabel('Find').isVisible(), false)
  await page.getByRole('navigation', { name: 'Guides' }).getByRole('link').first().click()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await context.close()
})
