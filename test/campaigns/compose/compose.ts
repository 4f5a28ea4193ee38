// deploy/compose is brought up by docker compose as its page says. Under load each gateway is restarted and replaced in
// turn, and PostgreSQL is restarted: no client notices, and the ledger has one row for each answer.

import { deepEqual, equal } from 'node:assert/strict'
import { until } from '../../harness/start-service.ts'
import { describeCounts, Failures, pause, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { startClientLoad, type ClientLoad } from '../gateways/client-load.ts'
import { openProject, type Project } from './project.ts'

const gateways = ['gateway-1', 'gateway-2'] as const
/** So long there is load before the first restart, and between one and the next. */
const steadyMs = 5_000
/** A machine that does much else may take long to start a container. */
const healthySeconds = 300
const rowsMsMax = 60_000

/** In a round each gateway is restarted, then each is replaced, then PostgreSQL is restarted. */
export async function runCompose({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const project = await openProject(log)
  const beganMs = performance.now()
  try {
    await project.compose('up', '--detach')
    const upSeconds = secondsSince(beganMs)
    log(`up after ${upSeconds} s`)
    const figures = await runRounds(project, { seed, count, log }, failures)
    return failures.toResult({ 'up within (s)': upSeconds, ...figures })
  } catch (error) {
    log(await project.compose('logs', '--no-color', '--tail', '40').catch(String))
    throw error
  } finally {
    await project.remove()
  }
}

async function runRounds(
  project: Project,
  { seed, count, log }: CampaignOptions,
  failures: Failures,
): Promise<CampaignResult['figures']> {
  const key = await createKey(project)
  const failed: Record<string, number> = {}
  let phase = 'before'
  const load = startClientLoad({ address: project.address, key: key.text }, { seed, failures, phase: () => phase })
  try {
    await pause(steadyMs)
    for (const { kind, what, go } of Array.from({ length: count }, () => round(project)).flat()) {
      phase = `${what}, ${kind},`
      const before = { failed: failures.count, answered: load.answered.length, ms: performance.now() }
      await go()
      await pause(steadyMs)
      const figure = `failed at each ${kind}`
      failed[figure] = (failed[figure] ?? 0) + failures.count - before.failed
      log(`${phase} ${secondsSince(before.ms)} s, ${load.answered.length - before.answered} answers`)
    }
    phase = 'after'
  } finally {
    await load.end()
  }
  await checkRows(project, { load, keyId: key.id }, failures)
  return { answers: describeCounts(load.statuses), ...failed }
}

type Step = { readonly kind: string; readonly what: string; go(): Promise<unknown> }

function round({ compose }: Project): Step[] {
  const wait = ['--detach', '--no-deps', '--wait', '--wait-timeout', String(healthySeconds)]
  const restart = (what: string) => async () => {
    await compose('restart', '--no-deps', what)
    // A restart does not wait for that.
    const isHealthy = async () => (await compose('ps', '--format', '{{.Health}}', what)) === 'healthy'
    await until(isHealthy, `${what} does not become healthy.`, healthySeconds * 1_000)
  }
  return [
    ...gateways.map((what) => ({ kind: 'restart of a gateway', what, go: restart(what) })),
    ...gateways.map((what) => ({
      kind: 'replacement of a gateway',
      what,
      go: () => compose('up', ...wait, '--force-recreate', what),
    })),
    { kind: 'restart of PostgreSQL', what: 'postgres', go: restart('postgres') },
  ]
}

async function createKey({ compose }: Project): Promise<{ readonly id: string; readonly text: string }> {
  const words = ['odyssey', 'keys', 'create', '--name', 'laptop', '--json']
  const { id, key } = JSON.parse(await compose('exec', '-T', gateways[0], ...words)) as { id: string; key: string }
  return { id, text: key }
}

type Asked = { readonly load: ClientLoad; readonly keyId: string }

/** Rows that waited for PostgreSQL in a data folder are written soon after; then each answer has the one that is its. */
async function checkRows({ compose }: Project, { load, keyId }: Asked, failures: Failures): Promise<void> {
  const query = `SELECT request_id FROM ledger WHERE api_key_id = '${keyId}' AND outcome = 'finished'`
  const psql = ['psql', '--username', 'odyssey', '--no-align', '--tuples-only', '--command', query]
  const read = async () => (await compose('exec', '-T', 'postgres', ...psql)).split('\n').filter((id) => id !== '')
  const hasAll = async () => (await read()).length >= load.answered.length
  await until(hasAll, 'Not every answer has a row.', rowsMsMax).catch((error: unknown) => failures.add(String(error)))
  const rows = await read()
  failures.check('rows', () => {
    equal(new Set(rows).size, rows.length, 'a request has two rows')
    const missing = new Set(load.answered).difference(new Set(rows))
    deepEqual([...missing], [], 'answers without a row')
  })
}

function secondsSince(beganMs: number): number {
  return Math.round((performance.now() - beganMs) / 1_000)
}
