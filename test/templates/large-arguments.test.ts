import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { EngineRequest } from '../../src/core/generation.ts'
import { engineRequest } from '../harness/requests.ts'
import { readOrRefuse } from './compare-prompts.ts'
import { templateFiles } from './template-files.ts'
import { openTemplatePrompts } from './template-prompts.ts'

function calling(given: string): EngineRequest {
  return engineRequest({
    messages: [
      { role: 'user', content: [{ kind: 'text', text: 'Hello.' }] },
      { role: 'assistant', content: [{ kind: 'tool-call', id: 'call_1', name: 'look_up', arguments: given }] },
      { role: 'user', content: [{ kind: 'tool-result', toolCallId: 'call_1', isError: false, content: [] }] },
    ],
  })
}

const deep = `{"place":${'['.repeat(20_000)}"<|im_end|>"${']'.repeat(20_000)}}`
const wide = (text: string) =>
  JSON.stringify({ place: Array.from({ length: 2_000 }, (_, index) => ({ [`${text}${index}`]: text })) })

for (const { name, source } of templateFiles) {
  suite(`${name}: arguments of a call in the history`, async () => {
    const prompts = await openTemplatePrompts(source)
    const harmless = await readOrRefuse(prompts, calling('{"place":"Oslo"}'))
    // A template may mark a text in another way than an object.
    const asText = await readOrRefuse(prompts, calling('Oslo'))

    test('nested too deeply to be walked are shown as the text they are', async () => {
      const read = await readOrRefuse(prompts, calling(deep))
      assert.ok([harmless, asText].some((one) => isDeepStrictEqual(read?.specials, one?.specials)))
      if (harmless?.shown.includes('Oslo') === true) assert.ok(read?.shown.includes('['.repeat(20_000)))
    })

    test('two thousand objects in arguments are each protected from becoming control tokens', async () => {
      const read = await readOrRefuse(prompts, calling(wide('<s>')))
      const twin = await readOrRefuse(prompts, calling(wide('zuqw')))
      // Compared as texts: the difference of two lists so long would never be found.
      assert.ok(read?.specials.join('') === twin?.specials.join(''))
      assert.equal(read?.shown.includes('<s>1999'), twin?.shown.includes('zuqw1999'))
    })
  })
}
