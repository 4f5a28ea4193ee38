import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { createMessagesProtocol } from '../messages-format.ts'

const protocol = createMessagesProtocol({ signatureKey: new Uint8Array(32) })

function choose(thinking: unknown, fields: Record<string, unknown> = {}) {
  const messages = [{ role: 'user', content: 'Hi' }]
  return protocol.decode({ model: 'hal-1.0', max_tokens: 4096, messages, thinking, ...fields }).request.thinking
}

test('a request without the field leaves the choice to the model, whatever its effort', () => {
  deepEqual(choose(undefined), { kind: 'default' })
  deepEqual(choose(null, { output_config: { effort: 'max' } }), { kind: 'default' })
})

test('adaptive thinking follows the effort, high where none is named', () => {
  deepEqual(choose({ type: 'adaptive' }), { kind: 'effort', effort: 'high' })
  for (const display of ['omitted', 'summarized', 'updates', null]) {
    deepEqual(choose({ type: 'adaptive', display }, { output_config: { effort: 'low' } }), {
      kind: 'effort',
      effort: 'low',
    })
  }
})

test('disabled thinking is off', () => {
  deepEqual(choose({ type: 'disabled' }, { output_config: { effort: 'max' } }), { kind: 'off' })
})

test('a budget is a ceiling that leaves room for text', () => {
  deepEqual(choose({ type: 'enabled', budget_tokens: 1024 }), { kind: 'on', tokensMax: 1024 })
  deepEqual(choose({ type: 'enabled', budget_tokens: 4096 }), { kind: 'on', tokensMax: 4095 })
  deepEqual(choose({ type: 'enabled', budget_tokens: 32_000 }), { kind: 'on', tokensMax: 4095 })
  deepEqual(choose({ type: 'enabled', budget_tokens: 1024 }, { max_tokens: 1 }), { kind: 'on', tokensMax: 1 })
})

test('a budget under the least one or without a number is refused', () => {
  throws(() => choose({ type: 'enabled', budget_tokens: 1023 }), { message: /^thinking\.budget_tokens: .*1024$/ })
  throws(() => choose({ type: 'enabled' }), { message: 'thinking.budget_tokens: Field required' })
})

test('thinking between tools is on after a tool result only', () => {
  deepEqual(choose({ type: 'between_tools' }), { kind: 'off' })
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'look', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: '1' }] },
  ]
  deepEqual(choose({ type: 'between_tools' }, { messages }), { kind: 'effort', effort: 'high' })
})
