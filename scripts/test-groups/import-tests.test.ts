import { deepEqual, equal, ok } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { filesOf, groupPrograms } from './groups.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-import-tests-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, source: string): string {
  const path = join(folder, name)
  writeFileSync(path, source)
  return path
}

test('a hook at the top of a test file runs for the tests of that file alone', () => {
  const says = (text: string) => `console.error('${text}')`
  const files = ['one', 'two'].map((name) =>
    write(
      `${name}.mjs`,
      `import { after, before, beforeEach, test } from 'node:test'
       before(() => ${says(`before ${name}`)})
       beforeEach(() => ${says(`hook of ${name}`)})
       after(() => ${says(`after ${name}`)})
       test('it', () => ${says(`test of ${name}`)})`,
    ),
  )
  const importing = pathToFileURL(join(import.meta.dirname, 'import-tests.ts')).href
  const program = write(
    'program.mjs',
    `const { importEach } = await import('${importing}')
     await importEach(${JSON.stringify(files)})`,
  )
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stderr } = spawnSync(process.execPath, [program], { env, encoding: 'utf8' })
  deepEqual(
    stderr.trim().split('\n'),
    ['one', 'two'].flatMap((name) => [`before ${name}`, `hook of ${name}`, `test of ${name}`, `after ${name}`]),
  )
})

test('each file of a group is in no other group, and is run by the program of its own', () => {
  const root = join(import.meta.dirname, '../..')
  const all = [...groupPrograms.values()].flatMap(filesOf)
  equal(new Set(all).size, all.length)
  for (const [program, name] of groupPrograms) {
    ok(filesOf(name).length > 1, name)
    ok(readFileSync(join(root, program), 'utf8').includes(`importGroup('${name}')`), program)
  }
  ok(all.every((file) => file.endsWith('.test.ts')))
})
