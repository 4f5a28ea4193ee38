import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Feature } from '../../core/feature.ts'
import { ApiError } from '../../core/error.ts'
import { efforts, type Effort, type Thinking } from '../../core/generation.ts'
import { modelIds, type ServedModel } from '../../core/model.ts'
import { encodeModel, encodeModelList, type ModelListQuery } from './models.ts'

const off: Thinking = { kind: 'off' }
const models = modelIds.map((id): ServedModel => ({
  id,
  displayName: id.toUpperCase(),
  description: 'D',
  createdAtMs: Date.UTC(2026, 10, 5) + 7,
  windowTokens: 125_000,
  outputTokensMax: 64_000,
  thinkingDefault: off,
  thinkingByEffort: Object.fromEntries(efforts.map((effort) => [effort, off])) as Record<Effort, Thinking>,
}))
const none: ReadonlySet<Feature> = new Set()

function page(query: ModelListQuery): readonly unknown[] {
  const list = encodeModelList(models, query, () => none) as unknown as {
    data: { id: string }[]
    has_more: boolean
    first_id: string | null
    last_id: string | null
  }
  assert.equal(list.first_id, list.data[0]?.id ?? null)
  assert.equal(list.last_id, list.data.at(-1)?.id ?? null)
  return [list.data.map(({ id }) => id), list.has_more]
}

suite('model', () => {
  test('a listed model has the keys that clients of both formats look for', () => {
    const entry = encodeModel(models[0] as ServedModel, none) as Record<string, unknown>
    assert.equal(entry['created'], 1793836800)
    assert.equal(entry['created_at'], '2026-11-05T00:00:00Z')
    assert.deepEqual([entry['object'], entry['type'], entry['owned_by']], ['model', 'model', 'organization'])
    assert.deepEqual([entry['max_input_tokens'], entry['max_tokens']], [124_999, 64_000])
  })

  test('the capabilities of a listed model follow the features of its engine', () => {
    const capabilities = (features: ReadonlySet<Feature>) =>
      (encodeModel(models[0] as ServedModel, features) as { capabilities: Record<string, { supported: boolean }> })
        .capabilities
    assert.equal(capabilities(none)['image_input']?.supported, false)
    assert.equal(capabilities(none)['structured_outputs']?.supported, false)
    assert.equal(capabilities(new Set(['images']))['image_input']?.supported, true)
    assert.equal(capabilities(new Set(['json-output']))['structured_outputs']?.supported, true)
    assert.equal(capabilities(none)['thinking']?.supported, true)
    assert.equal(capabilities(none)['batch']?.supported, false)
  })
})

suite('list', () => {
  test('the list of models comes in pages, by limit and cursors', () => {
    const [first, second, third] = modelIds
    assert.deepEqual(page({}), [[first, second, third], false])
    assert.deepEqual(page({ beta: 'true' }), [[first, second, third], false])
    assert.deepEqual(page({ limit: '2' }), [[first, second], true])
    assert.deepEqual(page({ limit: '1000' }), [[first, second, third], false])
    assert.deepEqual(page({ limit: '2', after_id: second }), [[third], false])
    assert.deepEqual(page({ after_id: third }), [[], false])
    assert.deepEqual(page({ limit: '1', before_id: third }), [[second], true])
    assert.deepEqual(page({ before_id: first }), [[], false])
    assert.deepEqual(page({ after_id: first, before_id: third }), [[second], false])
  })

  test('the list of models is filtered by stage', () => {
    assert.deepEqual(page({ 'lifecycle[]': 'retired' }), [[], false])
    assert.deepEqual(page({ 'lifecycle[]': ['deprecated', 'active'] })[0], modelIds)
  })

  test('a model whose end is announced says so, and is found by its stage', () => {
    const lifecycle = { deprecatedAtMs: Date.UTC(2027, 0, 1), retiresAtMs: Date.UTC(2027, 6, 1) }
    const [first, ...others] = models
    const ending = [{ ...(first as ServedModel), lifecycle }, ...others]
    const list = (stage: string) =>
      (encodeModelList(ending, { 'lifecycle[]': stage }, () => none) as unknown as { data: Record<string, unknown>[] })
        .data
    assert.deepEqual(
      list('active').map(({ id }) => id),
      others.map(({ id }) => id),
    )
    const [entry, ...more] = list('deprecated')
    assert.equal(more.length, 0)
    assert.deepEqual(
      [entry?.['id'], entry?.['lifecycle'], entry?.['deprecated_at'], entry?.['retires_at'], entry?.['shutdown_date']],
      [first?.id, 'deprecated', '2027-01-01T00:00:00Z', '2027-07-01T00:00:00Z', '2027-07-01T00:00:00Z'],
    )
  })

  test('a query of the list of models that makes no sense is refused by name', () => {
    const bad: ModelListQuery[] = [
      { limit: '0' },
      { limit: '-1' },
      { limit: '1001' },
      { limit: '' },
      { limit: '1.5' },
      { limit: 'x' },
      { after_id: 'x' },
      { before_id: '' },
      { 'lifecycle[]': 'x' },
    ]
    for (const query of bad) {
      assert.throws(
        () => page(query),
        (error) =>
          error instanceof ApiError &&
          error.reason.code === 'invalid-request' &&
          error.reason.path?.[0] === Object.keys(query)[0],
      )
    }
  })
})
