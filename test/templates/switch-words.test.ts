import { deepEqual } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Tool } from '../../src/core/generation.ts'
import { engineRequest } from '../harness/requests.ts'
import { templateFiles } from './template-files.ts'
import { openTemplatePrompts } from './template-prompts.ts'

/** What templates look for in the system text, and what only stands in some of them. */
const texts = ['#/$defs/think', '/no_think', 'either/or</thin', '_call|>', '&lt;', 'a \u0003 sign', String.raw`\u003c`]

const toolOf = (text: string): Tool => ({
  name: 'look_up',
  description: text,
  parameters: { type: 'object', properties: { place: { type: 'string', description: text } } },
  isStrict: false,
  schemaPath: [],
  input: 'json',
})

for (const { name, source } of templateFiles) {
  suite(`${name}: a tool is described as it was sent`, async () => {
    // One that declares tools itself decides how.
    const prompts = await openTemplatePrompts(source)
    const read = (text: string) => prompts.read(engineRequest({ tools: [toolOf(text)] }))
    const { shown, specials } = await read('harmless')
    /** The line that describes the tool where the template has no way of its own. */
    const lineOf = (prompt: string) => /<tools>\n(\{"name": "look_up".*\})\n<\/tools>/u.exec(prompt)?.[1]
    if (lineOf(shown) === undefined) return
    for (const text of texts) {
      test(`with ${JSON.stringify(text)} in it`, async () => {
        const hostile = await read(text)
        deepEqual(hostile.specials, specials)
        const { name: called, description, parameters } = toolOf(text)
        deepEqual(JSON.parse(lineOf(hostile.shown) ?? 'null'), { name: called, description, parameters })
      })
    }
  })
}
