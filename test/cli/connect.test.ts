// `odyssey connect`: what it prints for each client, and the call that proves it.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { allClients } from '../../src/clients/all-clients.ts'
import { isSupported } from '../../src/clients/client.ts'
import type { Format } from '../../src/clients/connection.ts'
import { modelsOfService, resolveAddress } from '../../src/cli/connect/connect-command.ts'
import type { LoadedWeights } from '../../src/http/api/engine-schemas.ts'
import { loadConfig } from '../../src/config/load.ts'
import { startAnsweringServer, type AnsweringServer } from '../harness/answering-server.ts'
import { connect, emptyFolder, tryConnect } from '../harness/connect-here.ts'
import { runCli, tryCli } from '../harness/run-cli.ts'
import { startService, type Service } from '../harness/start-service.ts'

process.env['ODYSSEY_HOME'] = emptyFolder()
delete process.env['ODYSSEY_KEY']

const key = 'sk-ody-ThisIsAKeyForTheTestsOnly0123456789'
const supported = allClients.filter(isSupported)
const settings = supported.flatMap((client) => client.formats.map((format) => ({ name: client.name, format })))

type Observed = { readonly path: string; readonly key: 'bearer' | 'x-api-key'; readonly version: string | null }

const chat: Observed = { path: '/v1/chat/completions', key: 'bearer', version: null }
const withApiKey: Observed = { path: '/v1/messages', key: 'x-api-key', version: '2023-06-01' }
const withBearer: Observed = { ...withApiKey, key: 'bearer' }
const newest: Observed = { ...withBearer, version: '2026-10-21' }

/** What the clients themselves sent when they were watched; in the chat format all send the same. */
const messages: Readonly<Record<string, Observed>> = {
  'claude-code': { ...withBearer, path: '/v1/messages?beta=true' },
  opencode: withApiKey,
  'qwen-code': withBearer,
  cline: withApiKey,
  continue: withApiKey,
  'anthropic-js': newest,
  'anthropic-python': newest,
  'vercel-ai': withApiKey,
  'langchain-anthropic': withApiKey,
  curl: withApiKey,
}

describe('what connect sends to prove the settings', () => {
  let server: AnsweringServer
  before(async () => {
    server = await startAnsweringServer()
  })
  after(() => server.close())
  beforeEach(() => void server.calls.splice(0))

  const observedOf = (name: string, format: Format) => (format === 'chat' ? chat : messages[name])

  for (const { name, format } of settings) {
    test(`${name}, ${format}: is what the client sends`, async () => {
      const printed = await connect(name, '--format', format, '--base-url', server.address, '--key', key)
      match(printed, /^Checked: clarke-1\.0 answered at http:\/\/\S+ in \d+\.\d s\.$/m)
      const [call] = server.calls
      equal(server.calls.length, 1)
      const sent = { path: call?.path, key: call?.apiKey === null ? 'bearer' : 'x-api-key', version: call?.version }
      deepEqual(sent, observedOf(name, format))
      equal(call?.authorization ?? call?.apiKey, call?.apiKey === null ? `Bearer ${key}` : key)
      deepEqual([call?.body['model'], call?.body['max_tokens']], ['clarke-1.0', 16])
    })
  }

  test('names the model that was chosen', async () => {
    const printed = await connect('claude-code', '--model', 'hal-1.0', '--base-url', server.address, '--key', key)
    equal(server.calls[0]?.body['model'], 'hal-1.0')
    match(printed, /"ANTHROPIC_MODEL": "hal-1\.0"/)
    match(printed, /"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "250000"/)
  })

  test('is nothing without a key, or when no check is wanted', async () => {
    match(await connect('curl', '--base-url', server.address), /^Not checked: there is no key yet\.$/m)
    match(await connect('curl', '--base-url', server.address, '--key', key, '--no-check'), /^Not checked\.$/m)
    deepEqual(server.calls, [])
  })
})

describe('what connect prints', () => {
  for (const { name, format } of settings) {
    test(`${name}, ${format}: has a placeholder for the key, and none of its own`, async () => {
      const printed = await connect(name, '--format', format)
      match(printed, /ODYSSEY_KEY/)
      match(printed, new RegExp(`npx odyssey connect ${name} --new-key ${name}$`, 'm'))
      ok(!printed.includes('sk-ody-'))
      match(printed, /http:\/\/127\.0\.0\.1:8080/)
    })
  }

  test('holds the key in settings files, and beside code', async () => {
    match(await connect('opencode', '--key', key, '--no-check'), new RegExp(`"apiKey": "${key}"`))
    const printed = await connect('openai-js', '--key', key, '--no-check')
    match(printed, new RegExp(`^export ODYSSEY_KEY=${key}$`, 'm'))
    match(printed, /apiKey: process\.env\.ODYSSEY_KEY/)
  })

  test('says which clients there are', async () => {
    const printed = await connect()
    for (const { name } of allClients) match(printed, new RegExp(`^  ${name} `, 'm'))
  })

  test('says why Codex cannot be connected', async () => {
    const { fault } = await tryConnect('codex')
    match(fault?.message ?? '', /only the responses format \(POST \/v1\/responses\)/)
  })

  test('refuses what it does not know', async () => {
    for (const args of [
      ['cursor-x'],
      ['curl', 'zed'],
      ['curl', '--model', 'hal-2.0'],
      ['aider', '--format', 'messages'],
      ['curl', '--key', key, '--new-key', 'laptop'],
      ['curl', '--new-key', ' '],
      ['curl', '--key', ''],
      ['curl', '--key', 'two words'],
    ]) {
      equal((await tryConnect(...args)).fault?.name, 'UsageError', args.join(' '))
    }
  })
})

describe('the address that clients are given', () => {
  const addressFor = async (...args: string[]) => /curl (\S+)\/v1\/chat/.exec(await connect('curl', ...args))?.[1]

  test('is taken with and without /v1, and below a path', async () => {
    equal(await addressFor('--base-url', 'https://ai.example.com'), 'https://ai.example.com')
    equal(await addressFor('--base-url', 'https://ai.example.com/v1/'), 'https://ai.example.com')
    equal(await addressFor('--base-url', 'https://example.com:444/odyssey/v1'), 'https://example.com:444/odyssey')
  })

  test('is refused when it is none', async () => {
    for (const text of [
      '127.0.0.1:8080',
      'ftp://a',
      'http://me:pass@a',
      'http://a?x=1',
      'http://a#x',
      "http://a/it's",
    ]) {
      equal((await tryConnect('curl', '--base-url', text)).fault?.name, 'UsageError', text)
    }
  })

  test('is the configured one while the service does not run, by a name that leads there', () => {
    for (const [host, port, address] of [
      ['127.0.0.1', 9000, 'http://127.0.0.1:9000'],
      ['0.0.0.0', 8080, 'http://127.0.0.1:8080'],
      ['::', 8080, 'http://localhost:8080'],
      ['::1', 8080, 'http://[::1]:8080'],
      ['ai.local', 80, 'http://ai.local'],
    ] as const) {
      const config = loadConfig({ ODYSSEY_HOME: emptyFolder(), HOST: host, PORT: String(port) })
      equal(resolveAddress(undefined, config, null), address)
    }
  })

  test('is asked for when the port is chosen only at the start', async () => {
    const home = emptyFolder()
    writeFileSync(join(home, 'odyssey.json'), '{"port": 0}')
    const { exitCode, stderr } = await tryCli({ home }, 'connect', 'curl')
    equal(exitCode, 2)
    match(stderr, /^The service does not run, .* --base-url\.$/m)
  })
})

describe('the sizes that clients are given', () => {
  const config = loadConfig({ ODYSSEY_HOME: emptyFolder() })
  const loaded = {
    path: '',
    bytes: 1,
    state: 'ready',
    windowTokens: 40_000,
    slots: 1,
    enginePid: 1,
    hasGenericTools: false,
    reason: null,
    loading: null,
  } as const
  const weightsOfHal = (isBuiltIn: boolean): LoadedWeights[] => [{ model: 'hal-1.0', isBuiltIn, ...loaded }]
  const sizeOfHal = (weights: readonly LoadedWeights[]) => {
    const { windowTokens, outputTokensMax } = modelsOfService(config, weights)[0]!
    return [windowTokens, outputTokensMax]
  }

  test('are those of the weights that the service has loaded', () => {
    deepEqual(sizeOfHal(weightsOfHal(false)), [40_000, 40_000])
  })

  test('are those that are meant while the small weights run that come with Odyssey, or nothing runs', () => {
    deepEqual(sizeOfHal(weightsOfHal(true)), [250_000, 64_000])
    deepEqual(sizeOfHal([]), [250_000, 64_000])
  })

  test('are those that the service at the address tells, with room for the prompt', async (t) => {
    const data = ['hal-1.0', 'clarke-1.0', 'tycho-1.0'].map((id) => ({
      id,
      context_length: 30_000,
      max_tokens: 30_000,
    }))
    const server = await startAnsweringServer({ data })
    t.after(() => server.close())
    const printed = await connect('opencode', '--base-url', server.address, '--key', key)
    equal(printed.match(/"context": 30000,\s+"output": 10000/g)?.length, 3)
  })
})

describe('a connection to a running service', () => {
  const noService = process.env['ODYSSEY_HOME']
  let service: Service
  before(async () => {
    service = await startService()
    process.env['ODYSSEY_HOME'] = service.home
  })
  after(async () => {
    process.env['ODYSSEY_HOME'] = noService
    await service.stop()
  })

  test('is proved in both formats', async () => {
    const { exitCode, stdout } = await tryCli(service, 'connect', 'openai-js', '--key', service.key)
    equal(exitCode, 0)
    ok(stdout.includes(`Checked: clarke-1.0 answered at ${service.address}/v1/chat/completions in `), stdout)
    const printed = await connect('claude-code', '--key', service.key)
    ok(printed.includes(`Checked: clarke-1.0 answered at ${service.address}/v1/messages?beta=true in `), printed)
    equal(service.ledger().length, 2)
  })

  test('makes a key when it is told to, and only then', async () => {
    const namesOfKeys = async () =>
      (JSON.parse(await runCli(service, 'keys', 'list', '--json')) as { name: string }[]).map(({ name }) => name)
    await connect('curl')
    deepEqual(await namesOfKeys(), ['First key'])
    const printed = await connect('curl', '--new-key', 'my laptop')
    match(printed, /^sk-ody-[0-9A-Za-z]+\n\nThis key \(key_\S+\) is shown only now\.$/m)
    match(printed, /^Checked: /m)
    deepEqual((await namesOfKeys()).toSorted(), ['First key', 'my laptop'])
  })

  test('takes the key of the environment', async () => {
    process.env['ODYSSEY_KEY'] = service.key
    match(await connect('curl'), /^Checked: /m)
    delete process.env['ODYSSEY_KEY']
  })

  test('is told apart from a wrong key', async () => {
    const { exitCode, stdout, stderr } = await tryCli(service, 'connect', 'anthropic-js', '--key', 'sk-ody-wrong')
    equal(exitCode, 1)
    match(stderr, /^The check failed\. \S+\/v1\/messages refuses the key \(401\): \S.*\n$/)
    // What was asked for is printed all the same.
    match(stdout, /new Anthropic/)
  })
})

describe('a connection that fails', () => {
  const failureAt = async (address: string, name = 'curl') => {
    const { fault } = await tryConnect(name, '--base-url', address, '--key', key)
    return fault?.message ?? 'It did not fail.'
  }

  test('because nothing listens', async () => {
    const server = await startAnsweringServer()
    await server.close()
    equal(
      await failureAt(server.address),
      `The check failed. Nothing listens at ${server.address}. Does the service run? It starts with: npx odyssey serve`,
    )
  })

  test('because there is no such machine', async () => {
    match(await failureAt('http://nowhere.invalid'), /There is no machine by the name of nowhere\.invalid\.$/)
  })

  test('because something else answers', async (t) => {
    const answers: Readonly<Record<string, readonly [number, string]>> = {
      '/page/v1/chat/completions': [200, '<html>Welcome</html>'],
      '/other/v1/chat/completions': [200, '{"type":"message"}'],
      '/away/v1/chat/completions': [301, ''],
      '/limit/v1/chat/completions': [429, '{"error":{"message":"Too many requests."}}'],
    }
    const server = createServer((request, response) => {
      const [status, text] = answers[request.url ?? ''] ?? [404, 'Not found']
      response.writeHead(status, { location: '/elsewhere' }).end(text)
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    match(await failureAt(`${address}/page`), /answers, but not in the chat format\. Is it the address of Odyssey\?$/)
    match(await failureAt(`${address}/other`), /answers, but not in the chat format\./)
    match(await failureAt(`${address}/away`), /leads elsewhere \(301\), and clients do not follow\.$/)
    match(await failureAt(`${address}/limit`), /answers 429: Too many requests\.$/)
    match(await failureAt(`${address}/none`), /answers 404: Not found$/)
  })

  test('before anything is written', async () => {
    const home = emptyFolder()
    const server = await startAnsweringServer()
    await server.close()
    const args = ['claude-code', '--write', '--home', home, '--base-url', server.address, '--key', key]
    const { fault } = await tryConnect(...args)
    match(fault?.message ?? '', /Nothing listens at .*\nNothing was written; --no-check writes all the same\.$/)
    deepEqual(readdirSync(home), [])
    await connect(...args, '--no-check')
    deepEqual(readdirSync(home), ['.claude'])
  })
})
