// Claude Code is signed in to through Keycloak, with no key anywhere, and works. Its model is scripted: what is tried is
// the way in and the way out, and the starter weights drive no agent.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setMemberSuspended } from '../../../../src/accounts/leaving/suspend-member.ts'
import { createConnection, setConnectionOn } from '../../../../src/accounts/single-sign-on/connections.ts'
import type { ConnectionId } from '../../../../src/core/ids.ts'
import { systemClock } from '../../../../src/lib/clock.ts'
import { createTestSso, domainToken, testSignIn } from '../../../harness/management.ts'
import { letRun } from '../../../harness/manual-clock.ts'
import { newConnection } from '../../../http/api/sso-things.ts'
import { claudeCode } from '../../agents/agents.ts'
import { prompt, source, startCopyingService, target } from '../../agents/copying-model.ts'
import { endThoseAtHome, environmentIn, execute } from '../../agents/run-agent.ts'
import { CookieBrowser } from '../cookie-browser.ts'
import { domain } from '../installation.ts'
import { enterPassword, type Keycloak } from '../keycloak/keycloak.ts'
import type { Verdicts } from '../verdicts.ts'
import { Terminal } from './terminal.ts'

const operator = { kind: 'operator' } as const
const clientId = 'odyssey-agents'
const refusedMsMax = 1_000

/** Signs Claude Code in through Keycloak, has it do something, and suspends its person. */
export async function tryAgents(verdicts: Verdicts, keycloak: Keycloak, modules: string): Promise<void> {
  const trials = await AgentTrials.open(keycloak, modules)
  const test = (name: string, work: () => Promise<string | void>) =>
    verdicts.try('Claude Code through Keycloak', name, work)
  try {
    await test('somebody signs in at its terminal and in a browser', () => trials.signIn())
    await test('it completes a task with no key in its settings', () => trials.work())
    await test('whoever is suspended is refused with its next request, within a second', () => trials.suspend())
  } finally {
    await trials.close()
  }
}

type Service = Awaited<ReturnType<typeof startCopyingService>>
type Answered = { readonly atMs: number; readonly status: number }

class AgentTrials {
  readonly #folder: string
  readonly #modules: string
  readonly #service: Service
  readonly #connectionId: ConnectionId
  readonly #answered: Answered[] = []
  readonly #stopClock: () => void

  private constructor(parts: { folder: string; modules: string; service: Service; connectionId: ConnectionId }) {
    this.#folder = parts.folder
    this.#modules = parts.modules
    this.#service = parts.service
    this.#connectionId = parts.connectionId
    this.#stopClock = letRun(parts.service.clock)
  }

  static async open(keycloak: Keycloak, modules: string): Promise<AgentTrials> {
    const folder = mkdtempSync(join(tmpdir(), 'odyssey-agent-'))
    let address = ''
    const siteUrl = () => address
    const sso = { ...createTestSso({ clock: systemClock }), siteUrl }
    const service = await startCopyingService(folder, [], { management: { siteUrl, sso } })
    address = service.address
    const connectionId = await connect(service, keycloak, address)
    return new AgentTrials({ folder, modules, service, connectionId })
  }

  get #file(): string {
    return claudeCode.prepare({ modules: this.#modules, folder: this.#folder, address: '', key: '', prompt }).file
  }

  get #environment(): Record<string, string> {
    return { ...environmentIn(this.#folder), CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1' }
  }

  /** As its person does: in the terminal what Claude Code asks, and in the browser what Keycloak and the service ask. */
  async signIn(): Promise<string> {
    const home = join(this.#folder, '.claude')
    mkdirSync(home)
    const settings = { forceLoginMethod: 'gateway', forceLoginGatewayUrl: this.#service.address }
    writeFileSync(join(home, 'settings.json'), JSON.stringify(settings))
    const environment = { ...this.#environment, BROWSER: '/bin/true' }
    const terminal = new Terminal({ file: this.#file, environment, folder: this.#folder })
    try {
      await terminal.see(/Choosethetextstyle/)
      await terminal.press('enter')
      await terminal.see(/Entertoconnect/)
      await terminal.press('enter')
      await terminal.see(/Yes,trustthisgateway/)
      await terminal.press('up', 'enter')
      const code = (await terminal.see(/Code:[B-Z]{4}-[B-Z]{4}/)).slice('Code:'.length)
      await this.#allow(code)
      await terminal.see(/SignedintoCloudgatewayasann@acme\.example/)
      await terminal.press('up', 'enter')
      await terminal.see(/ConnectedtoCloudgateway/)
    } finally {
      terminal.close()
      endThoseAtHome(this.#folder)
    }
    const kept = readFileSync(join(home, '.credentials.json'), 'utf8')
    match(kept, /sk-odya-/)
    return `as ann@${domain}`
  }

  async #allow(code: string): Promise<void> {
    const { address } = this.#service
    const browser = new CookieBrowser()
    const asked = await browser.go(`${address}/sso/${this.#connectionId}/start?next=${encodeURIComponent('/account')}`)
    await enterPassword(browser, asked, 'ann')
    const look = await browser.ask(`${address}/api/v1/me/agents/look`, { method: 'POST', body: { code } })
    equal(look.status, 200, look.text)
    const { projects } = JSON.parse(look.text) as { projects: { organizationId: string; projectId: string }[] }
    const { organizationId, projectId } = projects[0] ?? {}
    const body = { code, organizationId, projectId }
    const allowed = await browser.ask(`${address}/api/v1/me/agents`, { method: 'POST', body })
    equal(allowed.status, 204, allowed.text)
  }

  async work(): Promise<string> {
    const { code, output, word } = await this.#run()
    equal(code, 0, output)
    const copied = join(this.#folder, target)
    ok(existsSync(copied) && readFileSync(copied, 'utf8').includes(word), output)
    ok(output.includes(`The word is ${word}`), output)
    const keys = await this.#service.db
      .selectFrom('ledger')
      .innerJoin('api_keys', 'api_keys.id', 'ledger.api_key_id')
      .innerJoin('members', 'members.id', 'api_keys.owner_id')
      .select(['api_keys.kind', 'members.email'])
      .distinct()
      .execute()
    deepEqual(JSON.parse(JSON.stringify(keys)), [{ kind: 'agent', email: `ann@${domain}` }])
    rmSync(copied)
    return `${this.#service.turns.length} requests, all in the ledger under the person`
  }

  async #run() {
    const word = `MAGIC-${Math.random().toString(36).slice(2, 10)}`
    writeFileSync(join(this.#folder, source), `${word}\n`)
    const args = ['-p', prompt, '--dangerously-skip-permissions']
    const run = { file: this.#file, args, environment: this.#environment }
    return { ...(await execute(run, this.#folder)), word }
  }

  /** The person is suspended while the model answers the first request of a task; the answer is never heard out. */
  async suspend(): Promise<string> {
    const { db, accounts, app, home } = this.#service
    const { id } = await db
      .selectFrom('members')
      .select('id')
      .where('email', '=', `ann@${domain}`)
      .executeTakeFirstOrThrow()
    let suspendedAtMs = Infinity
    const suspending = async () => {
      await setMemberSuspended(accounts, operator, { id, organizationId: home.organizationId }, true)
      suspendedAtMs = performance.now()
    }
    const server = app.server
    server.on('request', (request, response) => {
      if (request.url?.startsWith('/v1/messages') !== true) return
      response.once('close', () => this.#answered.push({ atMs: performance.now(), status: response.statusCode }))
    })
    let done: Promise<void> = Promise.resolve()
    this.#service.faults.push((_request, usual) => {
      done = suspending()
      return [{ kind: 'wait', ms: 10_000 }, ...usual()]
    })
    const { code, output } = await this.#run()
    await done
    equal(existsSync(join(this.#folder, target)), false, 'The task was completed.')
    ok(code !== 0 || !output.includes('The word is'), output)
    const refused = this.#answered.filter(({ atMs, status }) => status === 401 && atMs >= suspendedAtMs)
    const [first] = refused
    ok(first !== undefined, `It is not refused: ${JSON.stringify(this.#answered)} ${output}`)
    const served = this.#answered.filter(({ atMs, status }) => status === 200 && atMs > suspendedAtMs + refusedMsMax)
    equal(served.length, 0, 'An answer went on.')
    const afterMs = first.atMs - suspendedAtMs
    ok(afterMs <= refusedMsMax, `It is refused after ${afterMs.toFixed(0)} ms.`)
    return `the answer under way ended, and the next request was refused after ${afterMs.toFixed(0)} ms`
  }

  async close(): Promise<void> {
    this.#stopClock()
    endThoseAtHome(this.#folder)
    this.#service.app.server.closeAllConnections()
    await this.#service.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** A connection of the service's organization, and Keycloak's client of it. */
async function connect(service: Service, keycloak: Keycloak, address: string): Promise<ConnectionId> {
  const { accounts, db, home } = service
  const { organizationId } = home
  const parts = { ...accounts, signIn: testSignIn }
  const row = { id: 'dom_agents', organization_id: organizationId, name: domain, token: domainToken } as const
  await db
    .insertInto('domains')
    .values({ ...row, verified_at: Date.now(), created_at: Date.now() })
    .execute()
  const clientSecret = 'a secret of the agents’ client'
  const own = { clientId, clientSecret, issuer: keycloak.issuer, makesMembers: true, organizationId }
  const id = await createConnection(parts, operator, { ...newConnection, ...own, defaultRole: 'admin' })
  await setConnectionOn(parts, operator, { id, organizationId }, true)
  await keycloak.administer('POST', '/clients', {
    clientId,
    protocol: 'openid-connect',
    secret: clientSecret,
    standardFlowEnabled: true,
    directAccessGrantsEnabled: false,
    redirectUris: [`${address}/sso/${id}/callback`],
  })
  return id
}
