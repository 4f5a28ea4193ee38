// Channels and silences made by commands, and what a running service sends over them.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openMailServer } from '../harness/open-mail-server.ts'
import { runCli, tryCli } from '../harness/run-cli.ts'
import { startService, until } from '../harness/start-service.ts'

type Message = { readonly type: string; readonly data: Readonly<Record<string, unknown>> }

const received: Message[] = []
const receiver = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  request.on('end', () => {
    received.push(JSON.parse(text) as Message)
    response.writeHead(204).end()
  })
})
after(() => receiver.close())

const listen = () => new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))

test('each request is told of over a webhook, and what waited when the service was killed is told after it', async () => {
  await listen()
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  let service = await startService({ config: { alerts: { allowedNetworks: ['127.0.0.1'] } } })
  try {
    const run = (...args: string[]) => runCli(service, 'alerts', ...args)
    const wanted = ['--name', 'billing', '--address', address, '--topics', 'request.finished,budget.threshold']
    const { id, secret } = JSON.parse(await run('create', ...wanted, '--json')) as { id: string; secret: string }
    match(secret, /^whsec_/)
    match(await run('list'), / {2}nothing sent yet {2}http:/)
    const answer = await fetch(`${service.address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'clarke-1.0', max_tokens: 4, messages: [{ role: 'user', content: 'Hello' }] }),
    })
    equal(answer.status, 200)
    await until(() => received.length > 0, 'Nothing is told of the request.')
    const [row] = service.ledger()
    deepEqual([received[0]?.type, received[0]?.data['requestId']], ['request.finished', row?.request_id])
    const told =
      /delivered [\d-]{10}T[\d:.]+Z {2}http:\/\/127\.0\.0\.1:\d+ {2}request\.finished,budget\.threshold {2}billing/
    await until(async () => told.test(await run('list')), 'The list does not say that it was delivered.')
    await service.stop('SIGKILL')
    await run('test', id)
    service = await service.restart()
    await until(() => received.some(({ type }) => type === 'channel.test'), 'The test does not arrive.')
    equal(received.filter(({ type }) => type === 'request.finished').length, 1)
  } finally {
    await service.stop()
  }
  const silence = ['silence', '--topic', 'budget.threshold', '--for', '31d', '--reason', 'known']
  const refused = await tryCli(service, 'alerts', ...silence)
  match(refused.stderr, /within 30 days/)
  const made = await runCli(service, 'alerts', ...silence.with(4, '8h'), '--json')
  const { id: silenceId } = JSON.parse(made) as { id: string }
  ok((await runCli(service, 'alerts', 'silences')).startsWith(silenceId))
  await runCli(service, 'alerts', 'unsilence', silenceId)
  equal(await runCli(service, 'alerts', 'silences'), 'silences: none.\n')
})

test('a channel to a private address, which nothing reaches unless a setting names it, is made with a warning', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-alerts-'))
  t.after(() => rmSync(home, { recursive: true }))
  writeFileSync(join(home, 'odyssey.json'), JSON.stringify({ alerts: { allowedNetworks: ['10.1.0.0/16'] } }))
  await runCli({ home }, 'migrate')
  const create = async (address: string) => {
    const wanted = ['--name', 'x', '--address', address, '--topics', 'audit.broken', '--json']
    const { exitCode, stdout, stderr } = await tryCli({ home }, 'alerts', 'create', ...wanted)
    deepEqual([exitCode, Object.keys(JSON.parse(stdout) as object)], [0, ['id', 'secret']])
    return stderr
  }
  match(await create('http://127.0.0.1:9000/hook'), /^Nothing is sent to 127\.0\.0\.1, .*alerts\.allowedNetworks/)
  match(await create('http://[::1]/hook'), /^Nothing is sent to ::1, /)
  for (const address of ['http://10.1.2.3/', 'https://hooks.example.com/', 'http://localhost/'])
    equal(await create(address), '', address)
})

test('the secret of a webhook stands on a line of its own, and what has none says nothing of one', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-alerts-'))
  t.after(() => rmSync(home, { recursive: true }))
  await runCli({ home }, 'migrate')
  const address = ['--name', 'x', '--address', 'https://hooks.example.com/']
  const channel = await runCli({ home }, 'alerts', 'create', ...address, '--topics', 'audit.broken')
  match(channel, /^chan_\w+ is made\. .*shown only now:\n\n {2}whsec_[\w+/]+=*\n$/)
  match(
    await runCli({ home }, 'audit-sinks', 'create', ...address),
    /^sink_\w+ is made\. .*now:\n\n {2}whsec_[\w+/]+=*\n$/,
  )
  match(await runCli({ home }, 'audit-sinks', 'list'), / rows behind {2}nothing sent yet {2}x\n$/)
  const log = await runCli({ home }, 'alerts', 'create', '--kind', 'log', '--name', 'x', '--topics', 'audit.broken')
  match(log, /^chan_\w+ is made\.\n$/)
})

test('an alert by e-mail arrives over the relay of the settings, and the doctor tries it', async () => {
  const relay = await openMailServer()
  const service = await startService({
    config: {
      alerts: {
        mail: { host: '127.0.0.1', port: relay.port, from: 'odyssey@example.com', caFile: relay.certificatePath },
      },
    },
  })
  try {
    const wanted = ['--kind', 'email', '--name', 'On call', '--address', 'on-call@example.com']
    const made = await runCli(service, 'alerts', 'create', ...wanted, '--topics', 'audit.broken', '--json')
    await runCli(service, 'alerts', 'test', (JSON.parse(made) as { id: string }).id)
    await until(() => relay.received.length > 0, 'No mail arrives.')
    deepEqual(relay.received[0]?.to, ['on-call@example.com'])
    match(await runCli(service, 'doctor'), /^ok {5}mail: The mail relay 127\.0\.0\.1 answers/m)
    await relay.close()
    match(await runCli(service, 'doctor'), /^look {3}mail: The mail relay 127\.0\.0\.1 would take no mail: /m)
  } finally {
    await service.stop()
  }
})
