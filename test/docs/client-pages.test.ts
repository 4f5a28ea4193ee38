// The pages on clients say what `odyssey connect` prints, and what they say works.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { allClients } from '../../src/clients/all-clients.ts'
import { isSupported } from '../../src/clients/client.ts'
import { connect, emptyFolder } from '../harness/connect-here.ts'
import { startService, type Service } from '../harness/start-service.ts'
import { readSections } from './client-pages.ts'
import { settingsReaders } from './read-settings.ts'

process.env['ODYSSEY_HOME'] = emptyFolder()
delete process.env['ODYSSEY_KEY']

const run = promisify(execFile)
const supported = allClients.filter(isSupported)
const sections = readSections()
const settings = sections.filter(({ blocks }) => blocks.length > 0)

const clientOf = (title: string) => supported.find((client) => client.title === title)

describe('the pages on clients', () => {
  test('have a section for each client, and for no other', () => {
    const titles = sections.filter(({ format }) => format === null).map(({ title }) => title)
    deepEqual(titles.toSorted(), allClients.map(({ title }) => title).toSorted())
  })

  for (const { page, title, format, blocks } of settings) {
    test(`${page}, ${title}, ${format ?? 'preferred format'}: says what connect prints, all of it and in its order`, async () => {
      const client = clientOf(title)
      ok(client !== undefined)
      const printed = await connect(
        client.name,
        ...(format === null ? [] : ['--format', format]),
        '--home',
        emptyFolder(),
      )
      // Commands for a key and the like stand around what the page shows, never between its lines.
      let from = 0
      for (const { code } of blocks) {
        const at = printed.indexOf(`\n\n${code}\n`, from)
        ok(at !== -1, `This is not printed:\n${code}\nBut this is:\n${printed}`)
        from = at + code.length
      }
      equal(printed.match(/^$\n(?=[{]|import |export |curl |\w[\w-]*:)/gm)?.length, blocks.length, 'and nothing else')
    })
  }

  for (const { title, format, blocks } of settings) {
    const paths = pathsOf(title)
    if (paths.length === 0) continue
    test(`${title}, ${format ?? 'preferred format'}: say what connect writes`, async () => {
      const home = emptyFolder()
      const args = format === null ? [] : ['--format', format]
      const name = clientOf(title)?.name ?? ''
      await connect(name, ...args, '--write', '--home', home, '--key', 'YOUR_ODYSSEY_KEY', '--no-check')
      const files = blocks.filter(({ language }) => language !== 'sh')
      deepEqual(
        paths.map((path) => readFileSync(join(home, path), 'utf8')),
        files.map(({ code }) => code),
      )
    })
  }
})

/** The files that a section names, below the home folder. */
function pathsOf(title: string): string[] {
  const { page } = sections.find((section) => section.title === title) ?? { page: '' }
  const text = readFileSync(join(import.meta.dirname, '../..', page), 'utf8')
  const section = text.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? ''
  const [preferred = ''] = section.split(/^### /m)
  return [...preferred.matchAll(/`~\/(\S+)`:$/gm)].map(([, path = '']) => path)
}

describe('what the pages on clients say', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  const here = (code: string) =>
    code.replaceAll('http://127.0.0.1:8080', service.address).replaceAll('YOUR_ODYSSEY_KEY', service.key)

  for (const { title, format, blocks } of settings) {
    const isCode = blocks.some(
      ({ language, code }) => language === 'js' || language === 'python' || code.startsWith('curl '),
    )
    if (isCode) continue
    test(`${title}, ${format ?? 'preferred format'}: leads the client to the service`, async () => {
      const read = settingsReaders[title]
      ok(read !== undefined, `Nobody knows how ${title} reads this.`)
      const edited = blocks.map(({ language, code }) => ({ language, code: here(code) }))
      const { url, headers, model } = read(edited, service.key)
      ok(url.startsWith(service.address), url)
      const body = JSON.stringify({ model, max_tokens: 8, messages: [{ role: 'user', content: 'Hello!' }] })
      const response = await fetch(url, { method: 'POST', headers, body })
      equal(response.status, 200, await response.text())
      equal(model, 'clarke-1.0')
    })
  }

  // A machine that runs Odyssey need not have Python; ODYSSEY_TEST_PYTHON names one that has the libraries of these pages.
  const python = process.env['ODYSSEY_TEST_PYTHON']
  for (const { title, blocks } of python === undefined ? [] : settings) {
    for (const { code } of blocks.filter(({ language }) => language === 'python')) {
      test(`${title}: runs in Python`, async () => {
        const rows = service.ledger().length
        await run(python ?? '', ['-c', here(code)], {
          env: { PATH: process.env['PATH'] ?? '', ODYSSEY_KEY: service.key },
        })
        equal(service.ledger().length, rows + 1)
      })
    }
  }
})
