import { deepEqual, equal, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeErrorPage } from '../../scripts/make-error-catalogue.ts'
import { problemKinds } from '../../src/http/api/problem.ts'
import { readErrorCatalogue } from '../../src/protocols/error-catalogue.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/customers/errors.md'), 'utf8')

test('the catalogue of errors is as the service would write it now', () => {
  equal(page, writeErrorPage(), 'npm run errors writes it anew')
})

test('the catalogue of errors has every code that the formats may answer with', () => {
  for (const format of ['chat-completions', 'messages']) {
    const source = readFileSync(join(root, `src/protocols/${format}/error.ts`), 'utf8')
    const quoted = [...source.matchAll(/\b(?:code|type|error_code): '([a-z_]+)'/g)].map(([, word = '']) => word)
    const faults = [...(/faultCodes.*?= \{([^}]*)\}/s.exec(source)?.[1] ?? '').matchAll(/: '(\w+)'/g)]
    const words = new Set([...quoted, ...faults.map(([, word = '']) => word)])
    ok(words.size > 8)
    for (const word of words) ok(page.includes(`"${word}"`), `${word} of ${format} has no example`)
  }
})

test('the catalogue of errors explains what the management API may answer with too', () => {
  deepEqual(
    readErrorCatalogue()
      .map(({ code }) => code)
      .toSorted(),
    Object.keys(problemKinds).toSorted(),
  )
})

test('the advice of the catalogue is that of the headers, in both formats', () => {
  for (const { code, retry, examples } of readErrorCatalogue()) {
    const [first] = examples
    ok(first?.chatCompletions)
    deepEqual(first.chatCompletions.headers, first.messages?.headers, code)
    equal(first.messages?.headers['x-should-retry'] === 'false', retry === 'no', code)
  }
})
