import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generationRequest } from '../../test/harness/requests.ts'
import { FakeEngine } from '../engines/fake/fake-engine.ts'
import { resolveRequest } from './resolve-request.ts'
import { describeServedModel } from '../models/served-models.ts'

const entry = (id: 'hal-1.0' | 'clarke-1.0' | 'tycho-1.0', thinking: 'on' | 'off' = 'off') => ({
  model: describeServedModel(id, { thinking, outputTokensMax: 500 }),
  engine: new FakeEngine(),
})

test('what a request leaves open is the model’s choice', () => {
  assert.deepEqual(resolveRequest(generationRequest(), entry('hal-1.0', 'on')).thinking, {
    kind: 'on',
    tokensMax: null,
  })
  const resolved = resolveRequest(generationRequest(), entry('clarke-1.0'))
  assert.deepEqual(
    [resolved.thinking, resolved.outputTokensMax, resolved.windowTokensMax],
    [{ kind: 'off' }, 500, 1_000_000],
  )
})

test('an effort means something else to each model', () => {
  const low = generationRequest({ thinking: { kind: 'effort', effort: 'minimal' } })
  assert.deepEqual(resolveRequest(low, entry('hal-1.0')).thinking, { kind: 'on', tokensMax: 1_024 })
  assert.deepEqual(resolveRequest(low, entry('tycho-1.0')).thinking, { kind: 'off' })
})

test('a limit above the model’s own is clamped, zero stays zero', () => {
  assert.equal(resolveRequest(generationRequest({ outputTokensMax: 9_999 }), entry('clarke-1.0')).outputTokensMax, 500)
  assert.equal(resolveRequest(generationRequest({ outputTokensMax: 0 }), entry('clarke-1.0')).outputTokensMax, 0)
})

test('an image in a user turn is refused with its place; one in a tool result becomes a note', () => {
  const image = {
    kind: 'image',
    mediaType: 'image/png',
    data: new Uint8Array(1),
    path: ['messages', 0, 'content', 1],
  } as const
  const shown = generationRequest({ messages: [{ role: 'user', content: [image] }] })
  assert.throws(() => resolveRequest(shown, entry('clarke-1.0')), {
    reason: { code: 'unsupported-feature', feature: 'images', path: image.path },
  })
  const result = { kind: 'tool-result', toolCallId: 'call_1', isError: false, content: [image] } as const
  const withTools = { ...entry('clarke-1.0'), engine: new FakeEngine({ features: new Set(['tools']) }) }
  const resolved = resolveRequest(generationRequest({ messages: [{ role: 'user', content: [result] }] }), withTools)
  assert.deepEqual(resolved.messages[0]?.content[0], {
    ...result,
    content: [{ kind: 'text', text: '[image omitted: model accepts text only]' }],
  })
})
