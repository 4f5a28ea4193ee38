import { suite, test } from 'node:test'
import { clientFields } from './client-fields.ts'
import { PromptComparison } from './compare-prompts.ts'
import { templateFiles } from './template-files.ts'
import { openTemplatePrompts } from './template-prompts.ts'

/** What a template would make a token of by putting brackets around it. */
const insides = (token: string) => [token.slice(1, -1), token.replace(/^[<[|｜/]+|[|｜>\]]+$/gu, '')]

/** What they say in a schema is theirs to say, in the template's words. */
const schemaWords = new Set(['type', 'description', 'enum', 'required', 'properties', 'default', 'items'])

for (const { name, source } of templateFiles) {
  suite(`${name}: the tokens of a prompt are the template’s own`, async () => {
    const prompts = await openTemplatePrompts(source)
    const comparison = new PromptComparison(prompts)
    const { reserved } = prompts
    for (const field of clientFields) {
      test(`whatever stands as ${field.name}`, async () => {
        for (const text of [reserved.join(' '), reserved.join('')]) await comparison.check(field, text)
        if (!field.isName) return
        const names = reserved.flatMap(insides).filter((inside) => inside.trim() !== '' && !schemaWords.has(inside))
        for (const text of new Set(names)) await comparison.check(field, text)
      })
    }
  })
}
