// One key, or those of several organizations, attacks the service in every way known to have cost others something,
// beside another key whose clients ask small things steadily. They are all answered, as fast as if nobody attacked.

import { modelIds } from '../../../src/core/model.ts'
import { backgroundPriority, prioritize, threadsOf } from '../../../src/lib/system/processor-priority.ts'
import { createOrganizationKey } from '../../harness/run-cli.ts'
import { startService, type Service } from '../../harness/start-service.ts'
import {
  describeCounts,
  Failures,
  increment,
  pause,
  quantile,
  runCases,
  type CampaignOptions,
  type CampaignResult,
} from '../campaign.ts'
import { isRunning, residentMiB, settledMemory, untilIdle } from '../processes.ts'
import { createRandom } from '../random.ts'
import { RawConnection } from '../raw-http.ts'
import { errorLines } from '../service-log.ts'
import { makeAttack, type Attack } from './attacks.ts'
import { startSteadyClients } from './steady-clients.ts'

/** From so many attacks on texts are as long as a body may be, and the steady clients' times are judged. */
const longRun = 1_000
const attackersAtOnce = 16
const attackingOrganizations = 3
const steadyClients = 2
/** On average between two requests of one of them: with real weights they ask for a part of the engine's time and not for all of it. */
const pauseMs = 700
const idleRequests = { short: 12, long: 200 }
/** The goal for the second key: its times grow by no more than half. */
const slowerMax = 1.5
/** What the service still holds after the attacks, of what it held before. */
const memoryGrowthMax = 1.3

/** One key attacks. */
export function runTakedown(options: CampaignOptions): Promise<CampaignResult> {
  return runAttacks(options, 1)
}

/** Keys of as many organizations attack together. */
export function runTakedownByMany(options: CampaignOptions): Promise<CampaignResult> {
  return runAttacks(options, attackingOrganizations)
}

async function runAttacks(
  { seed, count, log, weights }: CampaignOptions,
  organizations: number,
): Promise<CampaignResult> {
  const isLong = count >= longRun
  const failures = new Failures()
  const models = Object.fromEntries(modelIds.map((id) => [id, { weights }]))
  // No limit keeps the attackers from counting as much as they can.
  const limits = { countsPerKeyMinuteMax: null, concurrentCountsPerKeyMax: null }
  const service = await startService({ config: weights === undefined ? { limits } : { limits, models } })
  const attackers = [service.key, ...(await makeOrganizations(service, organizations - 1))]
  const steadyKey = (await makeOrganizations(service, 1))[0] ?? service.key
  const enginePid = await service.enginePid()

  const steady = { address: service.address, key: steadyKey, clients: steadyClients, pauseMs, seed }
  const requests = idleRequests[isLong ? 'long' : 'short']
  const { tookMs: idle } = await startSteadyClients({ ...steady, requests }).ended
  const memoryBefore = residentMiB(service.pid)
  log(`alone: P50 ${quantile(idle, 0.5).toFixed(0)} ms, P95 ${quantile(idle, 0.95).toFixed(0)} ms`)

  const attackersThreads = threadsOf(process.pid)
  const watched = startSteadyClients({ ...steady, requests: null })
  // Attackers have machines of their own; here they take what the service and its other clients leave.
  if (isLong) prioritize(attackersThreads, backgroundPriority)
  const outcomes = new Map<string, number>()
  await runCases(count, attackersAtOnce, async (caseNumber) => {
    const random = createRandom(seed, caseNumber)
    const options = {
      key: random.pick(attackers),
      charactersMax: isLong && random.chance(0.1) ? 30_000_000 : 300_000,
      staysMsMax: 5_000,
    }
    const attack = makeAttack(random, options)
    increment(outcomes, `${attack.kind}: ${await play(service, attack)}`)
    if ((caseNumber + 1) % 500 === 0) log(`${caseNumber + 1} of ${count}`)
  })
  watched.stop()
  const { tookMs: besideAttacks, faults } = await watched.ended
  for (const fault of faults) failures.add(`A steady client was answered ${fault}`)

  if ((await untilIdle(enginePid, 60_000)) === null) failures.add('The engine still works a minute after the attacks.')
  if (!isRunning(enginePid) || (await service.enginePid()) !== enginePid) failures.add('The engine is not the same.')
  const memoryAfter = await settledMemory(service.pid, (memoryBefore ?? 0) * memoryGrowthMax)
  const slower = quantile(besideAttacks, 0.95) / quantile(idle, 0.95)
  if (isLong && slower > slowerMax) failures.add(`The steady clients' P95 is ${slower.toFixed(2)} of what it was.`)
  if (isLong && memoryBefore !== null && (memoryAfter ?? 0) > memoryBefore * memoryGrowthMax)
    failures.add(`The service holds ${memoryAfter} MiB after ${memoryBefore}.`)
  const exitCode = await service.stop()
  if (exitCode !== 0) failures.add(`The service ended with ${exitCode}.`)
  for (const line of errorLines(service)) failures.add(`The service logged: ${line}`)
  return failures.toResult({
    attacks: describeCounts(outcomes),
    'steady requests': besideAttacks.length,
    'their P50 alone and beside (ms)': `${quantile(idle, 0.5).toFixed(0)} ${quantile(besideAttacks, 0.5).toFixed(0)}`,
    'their P95 alone and beside (ms)': `${quantile(idle, 0.95).toFixed(0)} ${quantile(besideAttacks, 0.95).toFixed(0)}`,
    'P95 of each fifth (ms)': fifthsOf(besideAttacks)
      .map((times) => quantile(times, 0.95).toFixed(0))
      .join(' '),
    'P95 ratio': slower.toFixed(2),
    'memory before and after (MiB)': `${memoryBefore} ${memoryAfter}`,
  })
}

/** In their order: what grows with the attacks shows here. */
function fifthsOf(times: readonly number[]): readonly (readonly number[])[] {
  const length = Math.ceil(times.length / 5)
  return [0, 1, 2, 3, 4].map((part) => times.slice(part * length, (part + 1) * length))
}

/** Makes organizations with a key each, and returns the keys. Refused by no limits: what is measured is what the service bears. */
async function makeOrganizations(service: Service, count: number): Promise<string[]> {
  const keys: string[] = []
  for (let number = 0; number < count; number++)
    keys.push(await createOrganizationKey(service, `Organization ${number}`))
  return keys
}

/** How an attack ended: with a status, or because the attacker or the service left. */
async function play({ address }: Service, { parts, pauseMs, staysMs }: Attack): Promise<string> {
  const connection = new RawConnection(address)
  const [first = Buffer.alloc(0), ...rest] = parts
  await connection.send(first)
  for (const part of rest) {
    if (connection.isClosed || connection.response.status !== null) break
    await pause(pauseMs)
    await connection.send(part)
  }
  await connection.until(({ isComplete }) => isComplete, staysMs)
  const { status } = connection.response
  const ending = status === null ? (connection.isClosed ? 'closed' : 'left') : String(status)
  connection.leave('rst')
  return ending
}
