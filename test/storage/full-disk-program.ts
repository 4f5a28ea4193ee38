// Run by full-disk.test.ts inside a mount of its own, whose size is all the disk that the service has.
// Prints what it saw as one line of JSON.

import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startService, until, type Service } from '../harness/start-service.ts'

/** What a client was told: the status, the kind of error, and the request's id. */
type Told = { readonly status: number; readonly error: string | null; readonly id: string }

type Readiness = { readonly status: number; readonly ledger: unknown }

export type FullDiskReport = {
  readonly refusals: { readonly chat: Told; readonly messages: Told }
  /** Requests of the full disk that were refused or broken off before the service knew. */
  readonly statusesWhileFilling: readonly number[]
  readonly modelsStatusWhenFull: number
  readonly readinessWhenFull: Readiness
  readonly readinessAtLast: Readiness
  readonly isAliveWhenFull: boolean
  readonly recovered: Told
  readonly acknowledged: readonly string[]
  readonly ledger: readonly string[]
  readonly integrity: string
  readonly exitCode: number | null
}

const attemptsMax = 2_000
const folder = process.argv[2] ?? ''

const service = await startService()
const acknowledged: string[] = []
for (let number = 0; number < 3; number += 1) await ask('chat')

const filling = join(folder, 'filling')
fill()
const statusesWhileFilling: number[] = []
let refused = await ask('chat')
// The log of the database has room in the space that it had taken already.
for (let attempt = 0; refused.status !== 503 && attempt < attemptsMax; attempt += 1) {
  statusesWhileFilling.push(refused.status)
  fill()
  refused = await ask('chat')
}
const refusals = { chat: refused, messages: await ask('messages') }
const headers = { authorization: `Bearer ${service.key}` }
const modelsStatusWhenFull = (await fetch(`${service.address}/v1/models`, { headers })).status
const readinessWhenFull = await askReadiness()
const isAliveWhenFull = isAlive(service.pid)
rmSync(filling)
const recovered = await until(async () => {
  const told = await ask('messages')
  return told.status === 200 ? told : null
}, 'The service did not recover.')
const readinessAtLast = await askReadiness()
const exitCode = await service.stop()

const ledger = service.ledger().map(({ request_id }) => request_id)
const db = new DatabaseSync(join(service.home, 'odyssey.db'), { readOnly: true })
const integrity = String(db.prepare('PRAGMA integrity_check').get()?.['integrity_check'])
db.close()
const report: FullDiskReport = {
  refusals,
  statusesWhileFilling,
  modelsStatusWhenFull,
  readinessWhenFull,
  readinessAtLast,
  isAliveWhenFull,
  recovered,
  acknowledged,
  ledger,
  integrity,
  exitCode,
}
console.log(JSON.stringify(report))

async function ask(format: 'chat' | 'messages'): Promise<Told> {
  const path = format === 'chat' ? '/v1/chat/completions' : '/v1/messages'
  const answer = await post(service, path)
  const { error } = (await answer.json()) as { error?: { type?: string; code?: string | null } }
  const id = answer.headers.get('x-request-id') ?? answer.headers.get('request-id') ?? ''
  if (answer.status === 200) acknowledged.push(id)
  return { status: answer.status, error: error?.code ?? error?.type ?? null, id }
}

async function askReadiness(): Promise<Readiness> {
  const response = await fetch(`${service.address}/readyz`)
  const { ledger } = (await response.json()) as { ledger?: unknown }
  return { status: response.status, ledger }
}

function post({ address, key }: Service, path: string): Promise<Response> {
  const body = JSON.stringify({ model: 'clarke-1.0', max_tokens: 2, messages: [{ role: 'user', content: 'x' }] })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return fetch(`${address}${path}`, { method: 'POST', headers, body })
}

/** To the last byte: what was freed meanwhile is taken as well. */
function fill(): void {
  for (;;) {
    const { bavail, bsize } = statfsSync(folder)
    if (bavail === 0) return
    try {
      writeFileSync(filling, new Uint8Array(Math.min(bavail, 256) * bsize), { flag: 'a' })
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return
      throw error
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
