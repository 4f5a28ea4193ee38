// Two gateways behind HAProxy with the configuration of deploy/compose. Each is restarted in turn under load, as an
// update does it, and no client notices.

import { equal, ok } from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../../harness/http/find-free-port.ts'
import { until } from '../../harness/start-service.ts'
import { describeCounts, Failures, pause, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { startClientLoad } from './client-load.ts'
import { openShared } from './start-gateways.ts'

const folderOfFiles = join(import.meta.dirname, '../../../deploy/compose')
/** HAProxy takes a gateway back after two checks, half a second apart. */
const takenBackMs = 2_000

/** `count` restarts, of the two gateways in turn. */
export async function runRolling({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const proxy = await openProxy(log)
  const shared = await openShared()
  try {
    const settings = JSON.parse(readFileSync(join(folderOfFiles, 'odyssey.json'), 'utf8')) as {
      server: Record<string, unknown>
    }
    const config = { server: { ...settings.server, trustedProxies: ['127.0.0.0/8'] } }
    const options = (port: number) => ({ config, environment: { PORT: String(port) } })
    const services = [
      await shared.start(undefined, options(proxy.gatewayPorts[0])),
      await shared.start(undefined, options(proxy.gatewayPorts[1])),
    ]
    await until(() => proxy.isReady(), 'The proxy reaches no gateway.')
    const load = startClientLoad({ address: proxy.address, key: services[0]!.key }, { seed, failures })
    const stopsMs: number[] = []
    for (let restart = 0; restart < count; restart++) {
      const index = restart % services.length
      const beganMs = performance.now()
      const exitCode = await services[index]!.stop()
      stopsMs.push(performance.now() - beganMs)
      failures.check(`restart ${restart}`, () => equal(exitCode, 0, 'the exit code'))
      services[index] = await services[index]!.restart()
      await pause(takenBackMs)
      log(`restart ${restart + 1}: ${load.answered.length} answers so far`)
    }
    await load.end()
    return failures.toResult({
      answers: describeCounts(load.statuses),
      'stopped within, longest (ms)': Math.round(Math.max(...stopsMs)),
    })
  } finally {
    proxy.close()
    await shared.stop()
  }
}

type Proxy = {
  /** Without TLS, for clients that are nothing but sockets. */
  readonly address: string
  readonly gatewayPorts: readonly [number, number]
  /** Asked over TLS. */
  isReady(): Promise<boolean>
  close(): void
}

/** HAProxy with the product's own configuration, but for the places where it listens, sends to and finds its certificate. */
async function openProxy(log: (line: string) => void): Promise<Proxy> {
  // Where there is no such program, this says so before anything is made.
  execFileSync('haproxy', ['-v'], { stdio: 'ignore' })
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-proxy-'))
  const [plain, secure, first, second] = [
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
  ]
  const certificate = makeCertificate(folder)
  const text = readFileSync(join(folderOfFiles, 'haproxy.cfg'), 'utf8')
    .replace(/^resolvers[^]*?\n\n/m, '')
    .replace(' resolvers containers init-addr last,libc,none', '')
    .replace('bind :8443', `bind 127.0.0.1:${plain}\n    bind 127.0.0.1:${secure}`)
    .replace('/run/secrets/certificate.pem', certificate)
    .replace('gateway-1:8080', `127.0.0.1:${first}`)
    .replace('gateway-2:8080', `127.0.0.1:${second}`)
  ok(!/gateway-\d:/.test(text) && text.includes(certificate))
  const path = join(folder, 'haproxy.cfg')
  writeFileSync(path, text)
  execFileSync('haproxy', ['-c', '-f', path], { stdio: 'pipe' })
  const child = spawn('haproxy', ['-db', '-f', path], { stdio: ['ignore', 'pipe', 'ignore'] })
  // What it says of each request is left out.
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter((some) => / is (UP|DOWN)/.test(some))) log(line.slice(0, 200))
  })
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  return {
    address: `http://127.0.0.1:${plain}`,
    gatewayPorts: [first, second],
    isReady: () => isReady(secure),
    close() {
      process.off('exit', end)
      end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    // The certificate is the campaign's own.
    request({ host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
      .on('error', () => resolve(false))
      .end()
  })
}

function makeCertificate(folder: string): string {
  const [key, certificate, both] = ['key.pem', 'certificate.pem', 'both.pem'].map((name) => join(folder, name))
  const subject = ['-subj', '/CN=localhost', '-days', '2']
  const files = ['-newkey', 'rsa:2048', '-nodes', '-keyout', key!, '-out', certificate!]
  execFileSync('openssl', ['req', '-x509', ...files, ...subject], { stdio: 'ignore' })
  writeFileSync(both!, readFileSync(certificate!, 'utf8') + readFileSync(key!, 'utf8'))
  return both!
}
