import { equal, match, ok } from 'node:assert/strict'
import { until, type Service } from '../../harness/start-service.ts'
import { pause, type Failures } from '../campaign.ts'
import { authorize, exchange, RawConnection, toBytes } from '../raw-http.ts'
import { readRows } from './ledger-of.ts'
import type { Key, Shared } from './start-gateways.ts'

export type Revocation = {
  readonly shared: Shared
  /** The gateway through which the key is revoked. */
  readonly through: Service
  readonly others: readonly { readonly name: string; readonly service: Service }[]
  readonly owner: string
  readonly key: Key
  readonly failures: Failures
  /** The times in milliseconds, by what was waited for. */
  readonly tookMs: Map<string, number[]>
  /** A machine that does much else says nothing about times; they are measured all the same. */
  readonly isTimed: boolean
}

const refusedMsMax = 1_000
/** Answers under way end within half a second more. */
const cutMsMax = 1_500
const waitMsMax = 60_000

/** A key is revoked through one gateway while the others answer it. */
export async function playRevocation(revocation: Revocation): Promise<void> {
  const { shared, through, others, owner, key, failures } = revocation
  const streams = await Promise.all(others.map(({ service }) => beginStream(service, key)))
  const path = `/api/v1/organizations/${shared.home.organizationId}/api-keys/${key.id}/revoke`
  const revoked = await exchange(through.address, { path, headers: authorize(owner), body: '' })
  const revokedMs = performance.now()
  failures.check('revoke', () => equal(revoked.status, 200, revoked.text))
  await Promise.all([
    checkRefused(revocation, { name: 'where it was revoked', service: through }, revokedMs),
    ...others.map((other) => checkRefused(revocation, other, revokedMs)),
    ...others.map((other, number) => checkCut(revocation, other.name, { stream: streams[number], revokedMs })),
  ])
  const rows = await until(
    async () => {
      const found = await readRows(shared.db, key)
      return found.length === streams.length ? found : null
    },
    'The streams that were cut have no rows.',
    waitMsMax,
  )
  failures.check('a stream that was cut', () => {
    for (const { outcome, output } of rows)
      ok(outcome !== 'finished' && output > 0, `is ${outcome} with ${output} tokens`)
  })
}

/** A database that is slow to say whose key it is makes a gateway ask to come again in two seconds, and clients do. */
const laterMs = 2_000
const attemptsMax = 5

/** Long enough to be cut in its midst, wherever it is measured. */
const streamTokens = 60_000

export async function beginStream(
  { address }: Service,
  { key }: Key,
  onLater: () => void = () => {},
): Promise<RawConnection> {
  const messages = [{ role: 'user', content: 'Hello' }]
  const limits = { max_tokens: streamTokens, min_tokens: streamTokens }
  const body = JSON.stringify({ model: 'tycho-1.0', messages, stream: true, ...limits })
  const headers = authorize(key)
  for (let attempt = 1; ; attempt += 1) {
    const connection = new RawConnection(address)
    void connection.send(toBytes({ path: '/v1/chat/completions', headers, body }))
    const isTold = await connection.until(
      ({ text, isComplete }) => isComplete || text.split('"content":').length > 3,
      waitMsMax,
    )
    if (isTold && !connection.response.isComplete) return connection
    const { status, text } = connection.response
    connection.leave('fin')
    ok(status === 503 && attempt < attemptsMax, `The stream did not begin: ${status} ${text.slice(0, 300)}`)
    onLater()
    await pause(laterMs)
  }
}

async function checkRefused(
  revocation: Revocation,
  { name, service }: { readonly name: string; readonly service: Service },
  revokedMs: number,
): Promise<void> {
  for (;;) {
    const askedMs = performance.now()
    const { status } = await exchange(service.address, {
      method: 'GET',
      path: '/v1/models',
      headers: authorize(revocation.key.key),
      body: '',
    })
    const sinceMs = askedMs - revokedMs
    if (status === 401) return note(revocation, `refused ${name}`, { ms: sinceMs, most: refusedMsMax })
    if (sinceMs > waitMsMax) return revocation.failures.add(`${status} a minute after the key was revoked`, name)
    await pause(10)
  }
}

type Cut = { readonly stream: RawConnection | undefined; readonly revokedMs: number }

async function checkCut(revocation: Revocation, name: string, { stream, revokedMs }: Cut): Promise<void> {
  const hasEnded = await stream?.until(({ isComplete }) => isComplete, waitMsMax)
  const sinceMs = performance.now() - revokedMs
  revocation.failures.check(`stream ${name}`, () => {
    ok(hasEnded === true || stream?.isClosed === true, 'it goes on a minute after its key was revoked')
    const { text } = stream?.response ?? { text: '' }
    match(text, /"error":/, 'it ends with an error')
    ok(!text.includes('[DONE]'), 'it does not end as if it were whole')
  })
  stream?.leave('fin')
  note(revocation, `cut ${name}`, { ms: sinceMs, most: cutMsMax })
}

function note(
  { tookMs, failures, isTimed }: Revocation,
  what: string,
  { ms, most }: { readonly ms: number; readonly most: number },
): void {
  tookMs.set(what, [...(tookMs.get(what) ?? []), ms])
  if (isTimed && ms > most) failures.add(`took ${Math.round(ms)} ms and not ${most} at the most`, what)
}
