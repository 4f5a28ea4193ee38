// A directory speaks to three gateways on one PostgreSQL, of which any may be killed at any moment; several clients of it
// speak at once, and to two gateways at the same time. Whatever came of it, all gateways tell the same as a plain model.

import { deepEqual } from 'node:assert/strict'
import { createApiKey, setApiKeyDisabled } from '../../../src/accounts/api-keys.ts'
import { createDirectory } from '../../../src/accounts/directory/directories.ts'
import { setDirectoryMappings } from '../../../src/accounts/directory/mappings.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { until, type Service } from '../../harness/start-service.ts'
import { Failures, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { openShared, type Key, type Shared } from '../gateways/start-gateways.ts'
import { createRandom } from '../random.ts'
import { authorize, exchange } from '../raw-http.ts'
import { Gateways, type Fields } from './gateways.ts'
import { Model } from './model.ts'
import { races } from './races.ts'
import { steps, type Lane } from './steps.ts'

const lanesMost = 3
/** So many steps lie between two kills, by and large. */
const stepsPerKill = 40
const pageSize = 13
const waitMsMax = 60_000
const operator = { kind: 'operator' } as const

type Course = {
  readonly shared: Shared
  readonly gateways: Gateways
  readonly failures: Failures
  readonly seed: number
  log(line: string): void
}

/** `count` things that a directory says. */
export async function runScim({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const shared = await openShared()
  try {
    const models = Array.from({ length: lanesMost }, (_, number) => new Model(number))
    const gateways = new Gateways(shared, await openDirectory(shared, models))
    await gateways.start()
    const course: Course = { gateways, failures, shared, seed, log }
    let said = 0
    const next = () => (said < count ? said++ : null)
    await Promise.all(models.map((model, number) => playLane(course, { model, number, next })))
    for (const service of await gateways.whole()) await compare(course, models, service)
    await compareMembers(course, models)
    await gateways.stop()
    return failures.toResult({
      kills: gateways.kills,
      'requests that got no answer': gateways.lost,
      'users and groups at the end': models.map(({ people, teams }) => `${people.size} and ${teams.size}`).join(', '),
      'keys of them, and of people who are gone': sum(models.map((model) => model.keys().length)),
    })
  } finally {
    await shared.stop()
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function accountsOf({ db, hashSecret }: Shared) {
  return { db, clock: systemClock, hashSecret }
}

async function openDirectory(shared: Shared, models: readonly Model[]): Promise<string> {
  const { organizationId } = shared.home
  const settings = { organizationId, name: 'Directory', defaultRole: 'developer' } as const
  const { id, token } = await createDirectory(accountsOf(shared), operator, settings)
  const mappings = models.flatMap((model) => model.mappings)
  await setDirectoryMappings(accountsOf(shared), operator, { id, organizationId }, mappings)
  return token
}

type Part = { readonly model: Model; readonly number: number; next(): number | null }

/** One client of the directory, which says one thing after the other of its own part. */
async function playLane({ shared, gateways, failures, seed, log }: Course, { model, number, next }: Part) {
  const random = createRandom(seed, number)
  const lane: Lane = { gateways, model, random, ...keysOf(shared) }
  for (let index = next(); index !== null; index = next()) {
    const step = random.pick(random.chance(0.15) ? races : steps)
    if (random.chance(1 / stepsPerKill)) gateways.kill(random)
    try {
      await step(lane, index)
    } catch (error) {
      // What the model says of this part is right no more.
      log(`part ${number} ends with step ${index}, ${step.name}`)
      failures.check(`step ${index} of part ${number}, ${step.name}`, () => {
        throw error
      })
      return
    }
    if (index % 500 === 499) log(`${index + 1} things said, ${gateways.kills} kills`)
  }
}

function keysOf(shared: Shared): Pick<Lane, 'makeKey' | 'setDisabled'> {
  const accounts = accountsOf(shared)
  const { organizationId } = shared.home
  return {
    async makeKey(person) {
      const wanted = { name: person.userName, ...shared.home, ownerId: person.id }
      person.key = { ...(await createApiKey(accounts, operator, wanted)), isDisabled: false }
    },
    async setDisabled({ key }, isDisabled) {
      if (key !== null) await setApiKeyDisabled(accounts, operator, { id: key.id, organizationId }, isDisabled)
    },
  }
}

/** What one gateway tells of users and groups, and which keys it takes. */
async function compare({ gateways, failures, log }: Course, models: readonly Model[], service: Service): Promise<void> {
  const users = await listAll(gateways, service, '/Users')
  const teams = await listAll(gateways, service, '/Groups')
  for (const model of models) {
    const own = (name: 'userName' | 'displayName') => (told: Fields) =>
      String(told[name]).toLowerCase().startsWith(model.prefix)
    failures.check(`users of ${model.prefix}`, () => model.checkUsers(users.filter(own('userName'))))
    failures.check(`groups of ${model.prefix}`, () => model.checkTeams(teams.filter(own('displayName'))))
    for (const [key, isTaken] of model.keys()) {
      const isSo = await waitFor(service, key, isTaken ? 200 : 401)
      if (!isSo) log(`key ${key.id} is not as it should be`)
      if (!isSo) failures.add(`is ${isTaken ? 'refused' : 'taken'} a minute later`, `key ${key.id}`)
    }
  }
}

async function waitFor({ address }: Service, { key }: Key, wanted: number): Promise<boolean> {
  const sent = { method: 'GET', path: '/v1/models', headers: authorize(key), body: '' }
  const isSo = async () => (await exchange(address, sent)).status === wanted
  return until(isSo, 'never', waitMsMax).catch(() => false)
}

/** Page after page. */
async function listAll(gateways: Gateways, service: Service, path: string): Promise<readonly Fields[]> {
  const found: Fields[] = []
  for (;;) {
    const page = `?startIndex=${found.length + 1}&count=${pageSize}`
    const told = await gateways.askOnce(service, { method: 'GET', path: `${path}${page}` })
    const resources = (told?.body['Resources'] ?? []) as readonly Fields[]
    found.push(...resources)
    if (resources.length === 0 || found.length >= Number(told?.body['totalResults'])) return found
  }
}

/** Who is a member, as what, and who is let in: as the database has it. */
async function compareMembers({ shared, failures }: Course, models: readonly Model[]): Promise<void> {
  const rows = await shared.db
    .selectFrom('members')
    .select(['id', 'role', 'suspended_at'])
    .where('source', '=', 'scim')
    .where('removed_at', 'is', null)
    .execute()
  const told = rows.map(({ id, role, suspended_at }) => `${id} ${role} ${suspended_at === null}`)
  const known = models.flatMap((model) =>
    [...model.people.values()].map(({ id, isActive }) => `${id} ${model.roleOf(id)} ${isActive}`),
  )
  failures.check('members', () => deepEqual(told.toSorted(), known.toSorted()))
}
