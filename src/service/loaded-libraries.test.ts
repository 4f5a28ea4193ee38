import { deepEqual, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'

/** Tells the packages whose files a program has loaded once the service's modules are there and its door is made. */
const program = `
  const { registerHooks } = await import('node:module')
  const packages = new Set()
  registerHooks({
    load(url, context, next) {
      const name = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url)?.[1]
      if (name !== undefined) packages.add(name)
      return next(url, context)
    },
  })
  await import('${new URL('./serve.ts', import.meta.url).href}')
  const { startFakeService } = await import('${new URL('../../test/harness/fake-service.ts', import.meta.url).href}')
  const service = await startFakeService({})
  process.send([...packages])
  await service.close()
  process.disconnect()`

async function packagesLoaded(): Promise<string[]> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [packages] = (await once(child, 'message')) as [string[]]
  await once(child, 'exit')
  return packages
}

/** Each takes some MiB of a service for as long as it runs. */
const loadedWhenNeeded = {
  'signing in by OpenID Connect': ['openid-client', 'oauth4webapi', 'jose'],
  'signing in by SAML': ['xml-crypto', 'xml-encryption', '@xmldom/xmldom', 'xpath'],
  'settings in YAML': ['yaml', 'jsonc-parser'],
  'a PostgreSQL database': ['pg'],
  'schemas of Fastify': ['@fastify/ajv-compiler', 'ajv', '@fastify/fast-json-stringify-compiler'],
  traces: ['@opentelemetry/sdk-trace', '@opentelemetry/exporter-trace-otlp-http'],
  'the engine, which has a process of its own': ['node-llama-cpp', '@huggingface/jinja'],
}

test('a service loads no library before the first who needs it', async () => {
  const packages = await packagesLoaded()
  ok(packages.includes('fastify') && packages.includes('kysely'), 'What is loaded was not seen.')
  const early = Object.entries(loadedWhenNeeded).flatMap(([what, names]) =>
    names.filter((name) => packages.includes(name)).map((name) => `${name}, which is for ${what}`),
  )
  deepEqual(early, [])
})
