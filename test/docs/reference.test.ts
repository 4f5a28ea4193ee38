// The reference of both APIs: what is served is described, and all that is described is shown.

import { channel } from 'node:diagnostics_channel'
import { deepEqual, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { openMemoryDatabase } from '../harness/databases/memory-database.ts'
import { describeApi } from '../../src/http/api/openapi.ts'
import { routes } from '../../src/http/api/routes.ts'
import { describeWireFormats } from '../../src/http/documents/wire-openapi.ts'
import { openFormats } from '../../src/protocols/formats.ts'
import { writeReference } from '../../web/guides/site/write-reference.ts'
import { guideGroups } from '../../web/guides/guide-list.ts'
import { fieldsBelow, operationsOf, type OpenApi, type Schema } from '../../web/src/app/docs/openapi.ts'
import { openManagementService, type ManagementService } from '../harness/management-service.ts'

const asSent = (document: unknown) => JSON.parse(JSON.stringify(document)) as OpenApi
const formats = openFormats({ signatureKey: new Uint8Array(32), readFingerprint: () => '' })
const documents = { models: asSent(describeWireFormats(formats)), management: asSent(describeApi(routes)) }
const root = join(import.meta.dirname, '../..')
const guides = guideGroups
  .flatMap(({ files }) => files.map((file) => readFileSync(join(root, 'docs', file), 'utf8')))
  .join('\n')

suite('every path that the service answers', () => {
  const served: string[] = []
  let service: ManagementService
  const note = (message: unknown) => {
    const { fastify } = message as { readonly fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ url, handler }) => {
      if (handler.name !== 'refuse') served.push(url)
    })
  }
  before(async () => {
    channel('fastify.initialization').subscribe(note)
    service = await openManagementService(await openMemoryDatabase())
    channel('fastify.initialization').unsubscribe(note)
  })
  after(() => service.close())

  test('is in the reference of an API, or a guide says what it is for', () => {
    ok(served.length > 100)
    const described = new Set(Object.values(documents).flatMap(({ paths }) => Object.keys(paths)))
    const missing = served.filter((url) => {
      const path = url.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{tile}')
      // The playground and SCIM have several addresses of one kind, of which the guide names the beginning and the end.
      const parts = /^(.*\/playground\/|\/scim\/v2\/\w+)(.*)$/.exec(path)?.slice(1) ?? [path]
      return path !== '/' && !described.has(path) && !parts.every((part) => guides.includes(part))
    })
    deepEqual([...new Set(missing)], [])
  })
})

for (const [name, document] of Object.entries(documents)) {
  suite(`the reference of ${name}`, () => {
    const html = writeReference({ document, address: 'http://127.0.0.1:8080', variable: 'KEY' })

    test('has every operation, with an anchor of its own', () => {
      for (const { operationId, method, path } of operationsOf(document)) {
        ok(html.includes(`<section id="${operationId}"`), operationId)
        ok(html.includes(`<code>${method} ${path.replaceAll("'", '&#39;')}</code>`), `${method} ${path}`)
      }
    })

    for (const operation of operationsOf(document)) {
      test(`shows every field of ${operation.method} ${operation.path}`, () => {
        const { requestBody, responses, parameters = [] } = operation
        const contents = [requestBody?.content, ...Object.values(responses).map(({ content }) => content)]
        const schemas = contents.flatMap((content) => Object.values(content ?? {}).map(({ schema }) => schema))
        for (const schema of [...schemas, ...parameters.map((parameter) => parameter.schema)]) {
          const described = [...allFields(schema, document)].toSorted()
          deepEqual([...shownFields(schema, document)].toSorted(), described)
        }
        const section = new RegExp(`<section id="${operation.operationId}"[^]*?</section>`).exec(html)?.[0] ?? ''
        const body = requestBody?.content['application/json']?.schema
        const fields = body === undefined ? [] : [...allFields(body, document)]
        for (const field of [
          ...fields.map((path) => path.split('.').at(-1) ?? ''),
          ...parameters.map((one) => one.name),
        ]) {
          ok(section.includes(`<code>${field}</code>`), field)
        }
      })
    }
  })
}

/** No body is nested deeper but one that contains itself. */
const deepest = 12

/** The paths of all fields, by a walk that knows nothing of how they are shown. */
function allFields(schema: unknown, document: OpenApi, path: readonly string[] = []): Set<string> {
  const found = new Set<string>()
  const add = (part: unknown, at: readonly string[], above: readonly unknown[]): void => {
    if (typeof part !== 'object' || part === null || above.includes(part) || at.length > deepest) return
    const node = part as Readonly<Record<string, unknown>>
    const within = [...above, part]
    if (typeof node['$ref'] === 'string') return add(pointedAt(node['$ref'], document), at, within)
    for (const [name, field] of Object.entries((node['properties'] ?? {}) as object)) {
      found.add([...at, name].join('.'))
      add(field, [...at, name], within)
    }
    for (const name of ['items', 'additionalProperties']) add(node[name], at, within)
    for (const name of ['prefixItems', 'anyOf', 'oneOf', 'allOf']) {
      for (const one of (node[name] ?? []) as readonly unknown[]) add(one, at, within)
    }
  }
  add(schema, path, [])
  return found
}

function pointedAt(reference: string, document: OpenApi): unknown {
  let node: unknown = document
  for (const part of reference.replace(/^#\//, '').split('/'))
    node = (node as Record<string, unknown> | undefined)?.[part]
  ok(node !== undefined, `${reference} leads nowhere.`)
  return node
}

/** The paths of the fields that a reader comes to who opens everything. */
function shownFields(
  schema: Schema,
  document: OpenApi,
  path: readonly string[] = [],
  above: readonly string[] = [],
): Set<string> {
  const found = new Set<string>()
  const below = fieldsBelow(schema, document)
  const self = JSON.stringify(below)
  if (below?.properties === undefined || above.includes(self) || path.length > deepest) return found
  for (const [name, field] of Object.entries(below.properties)) {
    found.add([...path, name].join('.'))
    for (const deeper of shownFields(field, document, [...path, name], [...above, self])) found.add(deeper)
  }
  return found
}
