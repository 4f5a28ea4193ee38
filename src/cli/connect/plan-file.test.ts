import { deepEqual, ok } from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { parse as parseJson } from 'jsonc-parser'
import { parse as parseYaml, stringify } from 'yaml'
import { planFile } from './write-settings.ts'
import { isTree, type SettingsTree, type SettingsValue } from '../../clients/settings/plan-edits.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-plan-'))
after(() => rmSync(folder, { recursive: true }))

const names = fc.constantFrom('a', 'b', 'hal-1.0', 'x y', '', '"', 'é', '1', '# c', ': d', 'name')
const plain = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constantFrom('on', '~', '- a', '//', 'null'))
const { tree } = fc.letrec<{ tree: SettingsTree; value: SettingsValue }>((tie) => ({
  tree: fc.dictionary(names, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  value: fc.oneof({ depthSize: 'small' }, plain, fc.array(plain, { maxLength: 2 }), tie('tree')),
}))

/** Written out once more, so that the code under test has somebody to agree with. */
function merged(current: SettingsValue | undefined, wanted: SettingsValue): SettingsValue {
  if (!isTree(current) || !isTree(wanted)) return wanted
  const result: Record<string, SettingsValue> = { ...current }
  for (const [name, value] of Object.entries(wanted)) result[name] = merged(current[name], value)
  return result
}

/** Whether some object is wanted where something else stands. */
function collides(current: SettingsValue | undefined, wanted: SettingsValue): boolean {
  if (current === undefined || !isTree(wanted)) return false
  if (!isTree(current)) return true
  return Object.entries(wanted).some(([name, value]) => collides(current[name], value))
}

const writers = {
  jsonc: (value: SettingsTree) => `// the first line\n${JSON.stringify(value, null, 4)}\n// the last line\n`,
  yaml: (value: SettingsTree) => `# the first line\n${stringify(value)}# the last line\n`,
} as const
const readers = {
  jsonc: (text: string) => parseJson(text) as unknown,
  yaml: (text: string) => parseYaml(text) as unknown,
}

for (const syntax of ['jsonc', 'yaml'] as const) {
  test(`merges any settings into any file, in ${syntax}, and loses nothing of it`, () => {
    const path = join(folder, syntax)
    fc.assert(
      fc.property(tree, tree, (current, wanted) => {
        const before = writers[syntax](current)
        writeFileSync(path, before)
        const file = { kind: 'file', path, syntax, settings: wanted } as const
        if (collides(current, wanted)) {
          let message = ''
          try {
            planFile(file)
          } catch (error) {
            message = (error as Error).message
          }
          ok(message.endsWith('is no object.'), message)
        } else {
          const { after: text } = planFile(file)
          deepEqual(readers[syntax](text), merged(current, wanted))
          for (const line of ['the first line', 'the last line']) ok(text.includes(line), text)
        }
        deepEqual(readFileSync(path, 'utf8'), before)
      }),
      { numRuns: 300 },
    )
  })
}
