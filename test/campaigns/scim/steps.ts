// What a directory says, one thing after the other, as Okta and as Entra write it.

import { equal, ok } from 'node:assert/strict'
import type { MemberId } from '../../../src/core/ids.ts'
import type { Random } from '../random.ts'
import type { Fields, Gateways, Sent, Told } from './gateways.ts'
import type { Model, Person, Team } from './model.ts'

export type Lane = {
  readonly gateways: Gateways
  readonly model: Model
  readonly random: Random
  /** Makes a key that somebody owns, and disables and enables it. */
  makeKey(person: Person): Promise<void>
  setDisabled(person: Person, isDisabled: boolean): Promise<void>
}

export type Step = (lane: Lane, index: number) => Promise<void>

const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'

export function patchOf(path: string, ...Operations: readonly Fields[]): Sent {
  return { method: 'PATCH', path, body: { schemas: [patchSchema], Operations } }
}

function ask({ gateways, random }: Lane, sent: Sent): Promise<Told> {
  return gateways.ask(random, sent)
}

async function change(lane: Lane, sent: Sent): Promise<void> {
  const { status, text } = await ask(lane, sent)
  ok(status === 200 || status === 204, `${sent.method} ${JSON.stringify(sent.body)}: ${status} ${text}`)
}

async function find(lane: Lane, path: string, filter: string): Promise<readonly Fields[]> {
  const { status, body, text } = await ask(lane, {
    method: 'GET',
    path: `${path}?filter=${encodeURIComponent(filter)}`,
  })
  equal(status, 200, text)
  return body['Resources'] as readonly Fields[]
}

/** Makes something, and finds it where the gateway that may have made it was killed. */
async function make(lane: Lane, path: string, body: Fields, filter: string): Promise<string> {
  const told = await ask(lane, { method: 'POST', path, body })
  if (told.status === 201) return told.body['id'] as string
  ok(told.status === 409 && told.isRepeated, `${JSON.stringify(body)}: ${told.status} ${told.text}`)
  const [only, ...more] = await find(lane, path, filter)
  equal(more.length, 0)
  return only?.['id'] as string
}

function somebody({ model, random }: Lane, isWanted: (person: Person) => boolean = () => true): Person | null {
  const wanted = [...model.people.values()].filter(isWanted)
  return wanted.length === 0 ? null : random.pick(wanted)
}

function someTeam({ model, random }: Lane): Team | null {
  return model.teams.size === 0 ? null : random.pick([...model.teams.values()])
}

/** Entra writes the names of operations with capitals. */
function spell(random: Random, word: string): string {
  return random.pick([word, `${word.charAt(0).toUpperCase()}${word.slice(1)}`])
}

/** A name that is new, or that somebody had who is gone: they come back as somebody else. */
function nameOf({ model, random }: Lane, index: number): string {
  const gone = model.gone.filter((name) => [...model.people.values()].every(({ userName }) => userName !== name))
  return gone.length > 0 && random.chance(0.3) ? random.pick(gone) : `${model.prefix}${index}@acme.example`
}

const create: Step = async (lane, index) => {
  const { model, random } = lane
  const userName = nameOf(lane, index)
  const isActive = random.chance(0.8)
  equal((await find(lane, '/Users', `userName eq "${userName}"`)).length, 0, `${userName} is there`)
  const active = random.pick([isActive, String(isActive), spell(random, String(isActive))])
  const body = { schemas: [userSchema], userName, externalId: `${model.prefix}ext${index}`, active }
  const id = (await make(lane, '/Users', body, `userName eq "${userName}"`)) as MemberId
  ok(!model.people.has(id), 'somebody new has the id of somebody else')
  const person: Person = { id, userName, title: null, isActive, key: null }
  model.people.set(id, person)
  if (isActive && random.chance(0.6)) await lane.makeKey(person)
}

const switchOnOrOff: Step = async (lane) => {
  const { random } = lane
  const person = somebody(lane)
  if (person === null) return
  person.isActive = !person.isActive
  const said = random.pick([person.isActive, spell(random, String(person.isActive))])
  const [op, path] = [spell(random, 'replace'), `/Users/${person.id}`]
  const ways = [patchOf(path, { op, path: 'active', value: said }), patchOf(path, { op, value: { active: said } })]
  await change(lane, random.pick(ways))
}

/** Okta sends the whole user. */
const rename: Step = async (lane, index) => {
  const person = somebody(lane)
  if (person === null) return
  person.userName = `${lane.model.prefix}renamed${index}@acme.example`
  person.title = `T${index}`
  const { userName, title, isActive: active } = person
  await change(lane, { method: 'PUT', path: `/Users/${person.id}`, body: { userName, title, active } })
}

const retitle: Step = async (lane, index) => {
  const person = somebody(lane)
  if (person === null) return
  person.title = `T${index}`
  const value = person.title
  const [op, path] = [spell(lane.random, 'replace'), `/Users/${person.id}`]
  const work = { op: 'Add', path: 'emails[type eq "work"].value', value: person.userName }
  const ways = [patchOf(path, { op, path: 'title', value }), patchOf(path, work, { op, value: { title: value } })]
  await change(lane, lane.random.pick(ways))
}

const remove: Step = async (lane) => {
  const person = somebody(lane)
  if (person === null) return
  const { status, isRepeated, text } = await ask(lane, { method: 'DELETE', path: `/Users/${person.id}` })
  ok(status === 204 || (status === 404 && isRepeated), `${status} ${text}`)
  lane.model.remove(person)
}

const makeTeam: Step = async (lane) => {
  const { model } = lane
  const [name, person] = [model.freeName(), somebody(lane)]
  if (name === undefined) return
  const ids = person === null ? [] : [person.id]
  const body = { schemas: [groupSchema], displayName: name, members: ids.map((value) => ({ value })) }
  const id = await make(lane, '/Groups', body, `displayName eq "${name}"`)
  model.teams.set(id, { id, name, members: new Set(ids) })
}

const join: Step = async (lane) => {
  const { random } = lane
  const [team, person] = [someTeam(lane), somebody(lane)]
  if (team === null || person === null) return
  const value = random.pick([[{ value: person.id }], { value: person.id }])
  await change(lane, patchOf(`/Groups/${team.id}`, { op: spell(random, 'add'), path: 'members', value }))
  team.members.add(person.id)
}

const leave: Step = async (lane) => {
  const { random } = lane
  const [team, person] = [someTeam(lane), somebody(lane)]
  if (team === null || person === null) return
  const op = spell(random, 'remove')
  const ways = [
    { op, path: 'members', value: [{ value: person.id }] },
    { op, path: `members[value eq "${person.id}"]` },
  ]
  await change(lane, patchOf(`/Groups/${team.id}`, random.pick(ways)))
  team.members.delete(person.id)
}

/** Okta says who is in a group from now on. */
const refill: Step = async (lane) => {
  const { random, model } = lane
  const team = someTeam(lane)
  if (team === null) return
  const ids = [...model.people.keys()].filter(() => random.chance(0.4))
  const value = ids.map((id) => ({ value: id }))
  await change(lane, patchOf(`/Groups/${team.id}`, { op: 'replace', path: 'members', value }))
  team.members.clear()
  for (const id of ids) team.members.add(id)
}

const renameTeam: Step = async (lane) => {
  const [name, team] = [lane.model.freeName(), someTeam(lane)]
  if (name === undefined || team === null) return
  const path = `/Groups/${team.id}`
  const ways = [
    patchOf(path, { op: 'replace', value: { id: team.id, displayName: name } }),
    patchOf(path, { op: spell(lane.random, 'replace'), path: 'displayName', value: name }),
  ]
  await change(lane, lane.random.pick(ways))
  team.name = name
}

const removeTeam: Step = async (lane) => {
  const team = someTeam(lane)
  if (team === null) return
  const { status, isRepeated, text } = await ask(lane, { method: 'DELETE', path: `/Groups/${team.id}` })
  ok(status === 204 || (status === 404 && isRepeated), `${status} ${text}`)
  lane.model.teams.delete(team.id)
}

const turnKey: Step = async (lane) => {
  const person = somebody(lane, ({ key, isActive }) => key !== null && (isActive || !key.isDisabled))
  const key = person?.key ?? null
  if (person === null || key === null) return
  key.isDisabled = !key.isDisabled
  await lane.setDisabled(person, key.isDisabled)
}

/** What is found is what the filter says, in the order in which it came to be. */
const search: Step = async (lane) => {
  const { model, random } = lane
  const own = `userName sw "${model.prefix}"`
  const name = somebody(lane)?.userName ?? 'nobody'
  type Search = readonly [filter: string, isWanted: (person: Person) => boolean]
  const searches: readonly Search[] = [
    [own, () => true],
    [`${own} and active eq false`, ({ isActive }) => !isActive],
    [`${own} and not (active eq false)`, ({ isActive }) => isActive],
    [`${own} and title pr`, ({ title }) => title !== null],
    [`userName eq "${name.toUpperCase()}"`, ({ userName }) => userName === name],
    [`${own} and (title co "1" or userName co "renamed")`, (person) => isOnesOrRenamed(person)],
  ]
  const [filter, isWanted] = random.pick(searches)
  model.checkUsers(await find(lane, '/Users', `${filter}`), isWanted)
}

function isOnesOrRenamed({ title, userName }: Person): boolean {
  return title?.includes('1') === true || userName.includes('renamed')
}

/** With how often each of them comes. */
const weights: readonly (readonly [step: Step, weight: number])[] = [
  [create, 3],
  [switchOnOrOff, 3],
  [rename, 1],
  [retitle, 1],
  [remove, 1],
  [makeTeam, 2],
  [join, 2],
  [leave, 2],
  [refill, 1],
  [renameTeam, 1],
  [removeTeam, 1],
  [turnKey, 2],
  [search, 2],
]
export const steps = weights.flatMap(([step, weight]) => Array.from({ length: weight }, () => step))
