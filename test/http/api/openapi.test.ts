import { Validator } from '@seriousme/openapi-schema-validator'
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fastify from 'fastify'
import { openMemoryDatabase } from '../../harness/databases/memory-database.ts'
import { addManagementRoutes, routes } from '../../../src/http/api/routes.ts'
import { describeApi, openApiPath } from '../../../src/http/api/openapi.ts'
import type { Access } from '../../../src/http/api/route.ts'
import type { Door } from '../../../src/http/parts.ts'
import { openManagementService, type ManagementService } from '../../harness/management-service.ts'

const namesOf = (access: Access) =>
  new Set(routes.filter(({ permission }) => permission === access).map(({ method, path }) => `${method} ${path}`))
const [publicNames, selfNames] = [namesOf('public'), namesOf('self')]

type Operation = {
  readonly operationId: string
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly responses: Readonly<Record<string, unknown>>
  readonly security?: readonly unknown[]
}
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

describe('the description of the API', () => {
  let service: ManagementService
  let document: Document
  let text: string

  before(async () => {
    service = await openManagementService(await openMemoryDatabase())
    const answer = await service.ask({ path: openApiPath })
    equal(answer.status, 200)
    text = answer.text
    document = answer.body as unknown as Document
  })
  after(() => service.close())

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
    )

  test('the description of the API is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    const result = await validator.validate(JSON.parse(text) as Record<string, unknown>)
    deepEqual(result.errors ?? [], [])
    equal(result.valid, true)
    equal(validator.version, '3.1')
  })

  test('the check of the description finds what is wrong', async () => {
    const broken = JSON.parse(text) as { paths: Record<string, unknown> }
    broken.paths['/api/v1/broken'] = { get: { responses: [] } }
    equal((await new Validator().validate(broken)).valid, false)
  })

  test('the description has every route that is registered, and no other', async () => {
    const served = new Set<string>()
    const app = fastify({ exposeHeadRoutes: false })
    app.addHook('onRoute', ({ method, url, handler }) => {
      // What refuses a method is registered where another path would take it, under one name.
      if (handler.name === 'refuse') return
      served.add(`${String(method)} ${url.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{tile}')}`)
    })
    addManagementRoutes(app, { management: service } as unknown as Door)
    await app.close()
    deepEqual(new Set(operations().map(({ name }) => name)), served)
    equal(served.size, routes.length + 1)
  })

  test('the description names every operation once, and says how each may fail', () => {
    const ids = operations().map(({ operation }) => operation.operationId)
    equal(new Set(ids).size, ids.length)
    for (const { name, operation } of operations()) {
      if (name.endsWith(openApiPath)) continue
      for (const status of ['400', '401', '403', '404', '429', '500'])
        ok(operation.responses[status], `${name} ${status}`)
      for (const [, parameter = ''] of name.matchAll(/\{(\w+)\}/g)) {
        ok(
          operation.parameters?.some((given) => given.in === 'path' && given.name === parameter),
          name,
        )
      }
    }
  })

  test('the description names an idempotency key where it is taken, and there alone', () => {
    const taking = routes.filter(({ method, hasOwnTransactions }) => method === 'POST' && hasOwnTransactions !== true)
    const named = operations().filter(({ operation }) =>
      operation.parameters?.some((given) => given.in === 'header' && given.name === 'Idempotency-Key'),
    )
    deepEqual(new Set(named.map(({ name }) => name)), new Set(taking.map(({ method, path }) => `${method} ${path}`)))
  })

  test('the description refers only to schemas that it has', () => {
    for (const [, kind = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
      const components = document.components as unknown as Record<string, Record<string, unknown>>
      ok(components[kind]?.[name], `${kind} ${name}`)
    }
  })

  test('the description says what each operation is opened by, and tells nothing of the inside', () => {
    for (const { name, operation } of operations()) {
      const isPublic = name.endsWith(openApiPath) || publicNames.has(name)
      if (isPublic) deepEqual(operation.security, [], name)
      else if (selfNames.has(name)) deepEqual(operation.security, [{ cookie: [] }], name)
      else equal(operation.security, undefined, name)
    }
    const said = text.replaceAll('owner/repo/file.gguf', '')
    equal(/node_modules|src\/|sqlite|postgres|kysely|\.gguf|\$defs/i.test(said), false)
    match(text, /sk-odym-/)
    deepEqual(JSON.parse(JSON.stringify(describeApi(routes))), JSON.parse(text))
  })
})
