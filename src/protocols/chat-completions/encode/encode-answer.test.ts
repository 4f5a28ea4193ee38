import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { GeneratedBlock } from '../../../core/collect.ts'
import { zeroUsage, type FinishReason } from '../../../core/generation.ts'
import { type AnswerShape, encodeAnswer, encodeFinishReason, encodeLogprobs } from './encode-answer.ts'

const meta = { requestId: 'req_abc', model: 'hal-1.0', createdAtMs: 1_795_219_200_000 } as const
const shape: AnswerShape = {
  systemFingerprint: 'fp_test',
  includesUsage: false,
  hidesThinking: false,
  textTools: new Set(['c']),
  isLegacy: false,
}
const thinking = { kind: 'thinking', text: 'Hm', logprobs: null } as const
const text = { kind: 'text', text: 'Hi', logprobs: null } as const
const call = (name: string, value: string): GeneratedBlock => ({
  kind: 'tool-call',
  id: 'call_1',
  name,
  text: value,
  logprobs: null,
})

function choiceOf(blocks: readonly GeneratedBlock[], reason: FinishReason, changes: Partial<AnswerShape> = {}) {
  const answer = encodeAnswer([{ blocks, reason, usage: zeroUsage }], meta, { ...shape, ...changes })
  return (
    answer as unknown as { choices: { message: Record<string, unknown>; finish_reason: string; logprobs: unknown }[] }
  ).choices[0]
}

suite('answer', () => {
  test('a plain answer has every key of the format', () => {
    const answer = encodeAnswer([{ blocks: [thinking, text], reason: { kind: 'end' }, usage: zeroUsage }], meta, shape)
    assert.deepEqual(answer, {
      id: 'chatcmpl-abc',
      object: 'chat.completion',
      created: 1_795_219_200,
      model: 'hal-1.0',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hi',
            refusal: null,
            annotations: [],
            reasoning_content: 'Hm',
            reasoning: 'Hm',
          },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 0,
        completion_tokens: 0,
        total_tokens: 0,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: 0,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
      service_tier: 'default',
      system_fingerprint: 'fp_test',
    })
  })

  test('content is null only with calls, and calls are there only when made', () => {
    const empty = choiceOf([], { kind: 'end' })
    assert.equal(empty?.message['content'], '')
    assert.ok(empty !== undefined && !('tool_calls' in empty.message) && !('reasoning' in empty.message))
    const called = choiceOf([call('f', ''), call('c', 'free')], { kind: 'tool-calls' })
    assert.equal(called?.message['content'], null)
    assert.deepEqual(called?.message['tool_calls'], [
      { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } },
      { id: 'call_1', type: 'custom', custom: { name: 'c', input: 'free' } },
    ])
    assert.equal(choiceOf([text, call('f', '{}')], { kind: 'tool-calls' })?.message['content'], 'Hi')
  })

  test('a cut call is kept as it is', () => {
    const cut = choiceOf([call('f', ''), call('f', '{"a":')], { kind: 'window' })
    assert.equal(cut?.finish_reason, 'length')
    assert.deepEqual(cut?.message['tool_calls'], [
      { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } },
      { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":' } },
    ])
  })

  test('an answer in the older form has one call', () => {
    const legacy = choiceOf(
      [call('f', '{}'), call('f', '{}')],
      { kind: 'tool-calls' },
      { isLegacy: true, textTools: new Set() },
    )
    assert.deepEqual(legacy?.message['function_call'], { name: 'f', arguments: '{}' })
    assert.ok(legacy !== undefined && !('tool_calls' in legacy.message))
    assert.equal(legacy.finish_reason, 'function_call')
  })

  test('hidden reasoning is left out', () => {
    assert.ok(!('reasoning' in (choiceOf([thinking, text], { kind: 'end' }, { hidesThinking: true })?.message ?? {})))
  })
})

test('every finish reason has its name', () => {
  const cases: readonly (readonly [FinishReason, boolean, string])[] = [
    [{ kind: 'end' }, false, 'stop'],
    [{ kind: 'stop-sequence', sequence: 'x' }, false, 'stop'],
    [{ kind: 'end' }, true, 'tool_calls'],
    [{ kind: 'tool-calls' }, true, 'tool_calls'],
    [{ kind: 'length' }, true, 'length'],
    [{ kind: 'window' }, false, 'length'],
    [{ kind: 'refusal' }, false, 'content_filter'],
  ]
  for (const [reason, hasCalls, expected] of cases) assert.equal(encodeFinishReason(reason, hasCalls, false), expected)
})

suite('log-probabilities', () => {
  test('a part of a character keeps its bytes and shows the replacement character', () => {
    const bytes = Uint8Array.of(0xf0, 0x9f)
    const { content } = encodeLogprobs([
      { bytes, logprob: -0.5, top: [{ bytes: Uint8Array.of(0xef, 0xbb, 0xbf), logprob: -1 }] },
    ])
    assert.equal(content[0]?.token, '\ufffd')
    assert.deepEqual(content[0]?.bytes, [0xf0, 0x9f])
    assert.equal(content[0]?.top_logprobs[0]?.token, '\ufeff')
  })

  test('values that JSON cannot hold become the floor', () => {
    const values = [-Infinity, NaN, -1e6, -1, 1e-9]
    const { content } = encodeLogprobs(values.map((logprob) => ({ bytes: Uint8Array.of(65), logprob, top: [] })))
    assert.deepEqual(
      content.map(({ logprob }) => logprob),
      [-9999, -9999, -9999, -1, 0],
    )
  })
})
