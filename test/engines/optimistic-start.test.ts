// Optimistic start: a short prompt begins before it is counted, if it has no more tokens than could be expected.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { makePlaceholder, placeholderTemplate } from '../../scripts/placeholder/make-placeholder.ts'
import { collect } from '../../src/core/collect.ts'
import { PromptLongerThanExpected } from '../../src/core/engine.ts'
import { inputTokens, type Tool } from '../../src/core/generation.ts'
import { mostPromptTokens } from '../../src/engines/text/text-size.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { engineRequest } from '../harness/requests.ts'

const never = new AbortController().signal
const folder = mkdtempSync(join(tmpdir(), 'odyssey-template-'))
after(() => rmSync(folder, { recursive: true }))

test('a template that adds more than could be expected has its prompts counted before they begin', async () => {
  const weightsPath = join(folder, 'long-template.gguf')
  writeFileSync(weightsPath, makePlaceholder(`{{- '${'0 '.repeat(500)}' -}}${placeholderTemplate()}`).model)
  const engine = openLlama({ weightsPath })
  try {
    const request = engineRequest()
    const prepared = engine.prepare(request, never)
    assert.equal(prepared.tokensMax, mostPromptTokens(request))
    const early = prepared.run({ outputTokensMax: 1, inputTokensMax: prepared.tokensMax ?? 0 })
    await assert.rejects(early.next(), PromptLongerThanExpected)
    const { usage } = await collect(prepared.run({ outputTokensMax: 100 }))
    assert.equal(await prepared.tokens, inputTokens(usage))
    assert.ok(usage.output > 1, 'The terms of a run before it was counted held after it.')
  } finally {
    await engine.close()
  }
})

test('long prompts, and those with tools, are counted first', () => {
  const asking = (text: string) => engineRequest({ messages: [{ role: 'user', content: [{ kind: 'text', text }] }] })
  const tool: Tool = {
    name: 'weather',
    description: '',
    parameters: { type: 'object' },
    isStrict: false,
    schemaPath: [],
    input: 'json',
  }
  assert.equal(mostPromptTokens(asking('x'.repeat(8_001))), null)
  assert.equal(mostPromptTokens(asking('\u{1f680}'.repeat(2_001))), null)
  assert.equal(mostPromptTokens({ ...asking('Hello'), tools: [tool] }), null)
  assert.ok((mostPromptTokens(asking('x'.repeat(8_000))) ?? 0) > 8_000)
})
