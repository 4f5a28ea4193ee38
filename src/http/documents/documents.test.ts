import { Validator } from '@seriousme/openapi-schema-validator'
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import fastify from 'fastify'
import { modelEquivalents } from '../../core/model-equivalents.ts'
import { readErrorCatalogue } from '../../protocols/error-catalogue.ts'
import { openFormats } from '../../protocols/formats.ts'
import { problemKinds } from '../api/problem.ts'
import { describeErrors, documentRoutes } from './documents.ts'
import type { StatusHistory } from '../../billing/availability/status-history.ts'
import { statusRoutes, type StatusParts } from './status-page.ts'
import { describeWireFormats } from './wire-openapi.ts'

const formats = openFormats({ signatureKey: new Uint8Array(32), readFingerprint: () => 'fp_test' })

type Described = {
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly post?: {
          readonly requestBody: {
            readonly content: Readonly<
              Record<string, { readonly example: unknown; readonly schema: { readonly properties: object } }>
            >
          }
          readonly responses: Readonly<
            Record<string, { readonly content: Readonly<Record<string, { readonly example?: unknown }>> }>
          >
        }
      }
    >
  >
}

suite('the description of the wire formats', () => {
  const { paths } = describeWireFormats(formats) as unknown as Described

  test('has every path that is served, with the fields of its body', () => {
    const served = formats.flatMap(({ routes }) => routes.map(({ path }) => path))
    deepEqual(Object.keys(paths), [...served, '/v1/models', '/v1/models/{id}'])
    const fieldsOf = (path: string) =>
      Object.keys(paths[path]?.post?.requestBody.content['application/json']?.schema.properties ?? {})
    ok(
      ['model', 'messages', 'tools', 'response_format', 'stream'].every((name) =>
        fieldsOf('/v1/chat/completions').includes(name),
      ),
    )
    ok(
      ['model', 'messages', 'max_tokens', 'thinking', 'system'].every((name) =>
        fieldsOf('/v1/messages').includes(name),
      ),
    )
  })

  test('says of a number of tokens that it is whole, in every format', () => {
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      const properties = paths[path]?.post?.requestBody.content['application/json']?.schema.properties ?? {}
      const { max_tokens: field } = properties as { readonly max_tokens?: unknown }
      match(JSON.stringify(field), /"type":"integer"/)
    }
  })

  test('has examples that the formats themselves take and give', () => {
    for (const { routes, protocol } of formats) {
      for (const { path, use } of routes) {
        const operation = paths[path]?.post
        const body = operation?.requestBody.content['application/json']?.example
        if (use === 'generation') equal(protocol.decodeShaped(body).isStream, false)
        else ok(protocol.count?.decodeShaped(body))
        const answer = operation?.responses['200']?.content['application/json']?.example
        equal(JSON.stringify(answer).includes(use === 'count' ? '31' : 'Seven eight nine.'), true, path)
      }
    }
  })

  test('is valid OpenAPI 3.1, and no bound of it is null', async () => {
    const served = JSON.parse(JSON.stringify(describeWireFormats(formats))) as Record<string, unknown>
    equal(/"(?:minimum|maximum)":null/.test(JSON.stringify(served)), false)
    const { errors = [] } = await new Validator().validate(served)
    deepEqual(errors, [])
  })

  test('tells nothing of the inside', () => {
    equal(/node_modules|src\/|sqlite|postgres|\.gguf/i.test(JSON.stringify(paths)), false)
  })
})

suite('the catalogue of errors', () => {
  const { errors } = describeErrors(formats)

  test('has every error that a caller may see, as each format tells it', () => {
    deepEqual(new Set(errors.map(({ code }) => code)), new Set(Object.keys(problemKinds)))
    for (const { code, means, todo, shapes } of errors) {
      ok(means !== '' && todo !== '', code)
      deepEqual(
        shapes.map(({ format }) => format),
        [...formats.map(({ name }) => name), 'management API'],
      )
      for (const { status, body } of shapes) ok(status >= 400 && JSON.stringify(body).length > 20, code)
    }
  })

  test('says of what passes by itself, such as a full service, that it is nobody’s fault, as the guide does', () => {
    const faults = new Map<string, string>(readErrorCatalogue().map(({ code, fault }) => [code, fault]))
    const passing = errors.filter(({ code }) => faults.get(code) === 'load')
    deepEqual(new Set(passing.map(({ whose }) => whose)), new Set(['nobody’s: it passes']))
    ok(errors.every((error) => passing.includes(error) || error.whose !== passing[0]?.whose))
  })

  test('says of an error whether to try again as its headers do', () => {
    for (const { code, retry, shapes } of errors) {
      const headers = shapes.map((shape) => shape.headers['x-should-retry'])
      if (retry !== 'after a while') deepEqual(new Set(headers), new Set(['false']), code)
      else ok(!headers.includes('false'), code)
    }
  })
})

suite('the models that stand in for others', () => {
  const ask = async (query: string) => {
    const app = fastify()
    for (const [url, { GET }] of Object.entries(documentRoutes(formats))) app.get(url, GET)
    const { body } = await app.inject(`/api/v1/equivalents.json${query}`)
    await app.close()
    return JSON.parse(body) as { readonly found: { readonly model: string } | null; readonly equivalents: unknown[] }
  }

  test('are all listed, and found by a name', async () => {
    const { found, equivalents } = await ask('')
    deepEqual([found, equivalents.length], [null, modelEquivalents.length])
    equal((await ask('?name=gpt-5-mini')).found?.model, 'tycho-1.0')
  })

  test('are none for a name that says nothing, is there twice or is too long', async () => {
    for (const query of ['?name=unheard-of', '?name=opus&name=haiku', `?name=${'opus'.repeat(100)}`])
      equal((await ask(query)).found, null, query.slice(0, 40))
  })
})

suite('the status', () => {
  const partsIn = (states: Readonly<Record<string, string>>, isAvailable = true) =>
    ({
      tracker: { isDraining: () => false, isLeaving: () => false },
      access: { isAvailable: () => isAvailable },
      inference: {
        ledger: { requireWritable: () => {} },
        catalog: {
          list: () =>
            Object.entries(states).map(([id, state]) => ({ model: { id }, engine: { status: () => ({ state }) } })),
        },
      },
      management: { publicUrl: 'https://ai.example' },
    }) as unknown as StatusParts

  const ask = async (parts: StatusParts, path: string) => {
    const app = fastify()
    for (const [url, { GET }] of Object.entries(statusRoutes(parts))) app.get(url, GET)
    const answer = await app.inject(path)
    await app.close()
    return answer
  }

  test('says in words which models answer, without a script or a style', async () => {
    const { body, headers } = await ask(partsIn({ 'hal-1.0': 'ready', 'tycho-1.0': 'down' }, false), '/status')
    ok(body.includes('<dt>hal-1.0</dt><dd>answers</dd><dt>tycho-1.0</dt><dd>does not answer</dd>'), body)
    ok(body.includes('Not everything works.') && body.includes('Keys cannot be checked'))
    equal(/<script|<style|style=/.test(body), false)
    equal(headers['cache-control'], 'public, max-age=10')
  })

  const down = { minutes: 2, causes: ['gateway'], valid: 0, bad: 0 } as const
  const history: StatusHistory = {
    atMs: Date.UTC(2027, 2, 3),
    models: [
      {
        model: 'hal-1.0',
        days: [
          { day: '2027-03-01', minutes: 0, downMinutes: 0 },
          { day: '2027-03-02', minutes: 1_440, downMinutes: 2 },
        ],
        firstTokenMs: { p50: 120, p95: 800 },
        incidents: [{ ...down, fromMs: Date.UTC(2027, 2, 2, 8), untilMs: Date.UTC(2027, 2, 2, 8, 2) }],
      },
    ],
  }
  const withPast = { ...partsIn({ 'hal-1.0': 'ready', 'tycho-1.0': 'down' }), readHistory: () => history }

  test('shows the days before in words as well as in bars, without a script or a style', async () => {
    const { body } = await ask(withPast, '/status')
    ok(body.includes('99.86 % of 1 day up, 2 minutes down.'), body)
    ok(body.includes('<title>2027-03-01: not known</title>'), body)
    ok(body.includes('<li>hal-1.0: 2027-03-02 08:00 to 2027-03-02 08:02 UTC, 2 minutes down</li>'), body)
    equal(/<script|<style|style=/.test(body), false)
  })

  test('is written anew as soon as a model, or what is known of the past, is another one', async () => {
    const states: Record<string, string> = { 'hal-1.0': 'ready' }
    let past: StatusHistory | null = null
    const app = fastify()
    const parts = partsIn(states)
    const list = () =>
      Object.entries(states).map(([id, state]) => ({ model: { id }, engine: { status: () => ({ state }) } }))
    const catalog = { list } as unknown as StatusParts['inference']['catalog']
    const changing = { ...parts, inference: { ...parts.inference, catalog }, readHistory: () => past }
    for (const [url, { GET }] of Object.entries(statusRoutes(changing))) app.get(url, GET)
    const [first, second] = [await app.inject('/status'), await app.inject('/status')]
    equal(first.body, second.body)
    ok(first.body.includes('All models answer.') && !first.body.includes('<svg'))
    states['hal-1.0'] = 'down'
    ok((await app.inject('/status')).body.includes('does not answer'))
    past = history
    const { body } = await app.inject('/status')
    ok(body.includes('<svg') && body.includes('does not answer'))
    states['hal-1.0'] = 'ready'
    ok((await app.inject('/status')).body.includes('All models answer.'))
    await app.close()
  })

  test('is there for programs too, in the usual shape', async () => {
    const { body } = await ask(withPast, '/status.json')
    const {
      page,
      status,
      components,
      past_incidents: past,
    } = JSON.parse(body) as {
      readonly page: { readonly url: string; readonly updated_at: string }
      readonly status: { readonly indicator: string }
      readonly components: readonly { readonly name: string; readonly status: string; readonly days?: unknown[] }[]
      readonly past_incidents: unknown
    }
    deepEqual(
      [page.url, page.updated_at, status.indicator],
      ['https://ai.example', '2027-03-03T00:00:00.000Z', 'major'],
    )
    deepEqual(
      components.map(({ name, status: state, days }) => [name, state, days?.length]),
      [
        ['hal-1.0', 'operational', 2],
        ['tycho-1.0', 'major_outage', undefined],
        ['keys', 'operational', undefined],
        ['ledger', 'operational', undefined],
      ],
    )
    deepEqual(past, [
      { component: 'hal-1.0', started_at: '2027-03-02T08:00:00.000Z', resolved_at: '2027-03-02T08:02:00.000Z' },
    ])
  })

  test('says how bad it is: nothing, some models, or all of them', async () => {
    const indicatorOf = async (parts: StatusParts) => {
      const { status } = JSON.parse((await ask(parts, '/status.json')).body) as { status: { indicator: string } }
      return status.indicator
    }
    equal(await indicatorOf(partsIn({ 'hal-1.0': 'ready' })), 'none')
    equal(await indicatorOf(partsIn({ 'hal-1.0': 'ready', 'tycho-1.0': 'down' })), 'major')
    equal(await indicatorOf(partsIn({ 'hal-1.0': 'down' })), 'critical')
    equal(await indicatorOf(partsIn({ 'hal-1.0': 'ready' }, false)), 'critical')
  })

  test('can be followed as a feed', async () => {
    const { body, headers } = await ask(withPast, '/status.atom')
    ok(headers['content-type']?.toString().startsWith('application/atom+xml'))
    ok(body.includes('<title>hal-1.0 was down for 2 minutes</title><updated>2027-03-02T08:02:00.000Z</updated>'), body)
  })
})
