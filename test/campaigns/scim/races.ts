// Two requests of a directory at once, at two gateways: one of them comes first, and nothing is left in between.

import { ok } from 'node:assert/strict'
import type { MemberId } from '../../../src/core/ids.ts'
import type { Fields, Sent, Told } from './gateways.ts'
import type { Person } from './model.ts'
import { patchOf, type Lane, type Step } from './steps.ts'

/** Null for one whose gateway was killed. */
async function askAtOnce({ gateways, random }: Lane, sent: readonly [Sent, Sent]): Promise<readonly (Told | null)[]> {
  const [first, second = first] = gateways.pick(random)
  if (first === undefined || second === undefined) throw new Error('No gateway is there.')
  return Promise.all([gateways.askOnce(first, sent[0]), gateways.askOnce(second, sent[1])])
}

function statusesOf(told: readonly (Told | null)[]): string {
  return told.map((one) => one?.status ?? 'none').join(' and ')
}

async function read({ gateways, random }: Lane, path: string): Promise<Told> {
  return gateways.ask(random, { method: 'GET', path })
}

function pickPerson({ model, random }: Lane): Person | null {
  return model.people.size === 0 ? null : random.pick([...model.people.values()])
}

/** Of two who have seen the same version one is told that it is old. */
const changeOneVersion: Step = async (lane, index) => {
  const person = pickPerson(lane)
  if (person === null) return
  const path = `/Users/${person.id}`
  const before = (await read(lane, path)).body
  const ifMatch = (before['meta'] as { readonly version: string }).version
  const titles = [`A${index}`, `B${index}`]
  const [one, other] = titles.map((value) => ({ ...patchOf(path, { op: 'replace', path: 'title', value }), ifMatch }))
  const told = await askAtOnce(lane, [one as Sent, other as Sent])
  const taken = titles.filter((_, number) => told[number]?.status === 200)
  ok(taken.length <= 1, 'both changes of one version were taken')
  ok(
    told.every((answer) => answer === null || [200, 412, 503].includes(answer.status)),
    statusesOf(told),
  )
  const isOpen = told.some((answer) => answer === null || answer.status === 503)
  const title = ((await read(lane, path)).body['title'] ?? null) as string | null
  const possible = taken.length === 1 ? taken : isOpen ? [person.title, ...titles] : []
  ok(possible.includes(title), `the title is ${title} after ${statusesOf(told)}`)
  person.title = title
}

/** Of two who make somebody of one name, in other capitals, one has made them. */
const createTwice: Step = async (lane, index) => {
  const { model, gateways, random } = lane
  const userName = `${model.prefix}twice${index}@acme.example`
  const post = (name: string): Sent => ({ method: 'POST', path: '/Users', body: { userName: name } })
  const told = await askAtOnce(lane, [post(userName), post(userName.toUpperCase())])
  ok(told.filter((answer) => answer?.status === 201).length <= 1, 'both have made one')
  ok(
    told.every((answer) => answer === null || [201, 409, 503].includes(answer.status)),
    statusesOf(told),
  )
  const filter = encodeURIComponent(`userName eq "${userName}"`)
  const { body } = await gateways.ask(random, { method: 'GET', path: `/Users?filter=${filter}` })
  const found = body['Resources'] as readonly Fields[]
  const isSure = told.some((answer) => answer?.status === 201)
  ok(found.length === 1 || (!isSure && found.length === 0), `${found.length} have the name after ${statusesOf(told)}`)
  for (const { id, userName: name } of found as readonly { readonly id: MemberId; readonly userName: string }[]) {
    model.people.set(id, { id, userName: name, title: null, isActive: true, key: null })
  }
}

/** Whoever is switched off and on at once is the one or the other, and their keys with them. */
const switchBothWays: Step = async (lane) => {
  const person = pickPerson(lane)
  if (person === null) return
  const path = `/Users/${person.id}`
  const to = (value: boolean) => patchOf(path, { op: 'replace', path: 'active', value })
  const told = await askAtOnce(lane, [to(true), to(false)])
  ok(
    told.every((answer) => answer === null || [200, 503].includes(answer.status)),
    statusesOf(told),
  )
  person.isActive = (await read(lane, path)).body['active'] === true
}

/** Whoever is deleted while they are put into a group is in none. */
const joinWhileLeaving: Step = async (lane) => {
  const { model, gateways, random } = lane
  const [person, team] = [pickPerson(lane), [...model.teams.values()][0]]
  if (person === null || team === undefined) return
  const add = patchOf(`/Groups/${team.id}`, { op: 'add', path: 'members', value: [{ value: person.id }] })
  const told = await askAtOnce(lane, [{ method: 'DELETE', path: `/Users/${person.id}` }, add])
  ok(
    told.every((answer) => answer === null || answer.status < 500 || answer.status === 503),
    statusesOf(told),
  )
  if (told[0]?.status !== 204) {
    const again = await gateways.ask(random, { method: 'DELETE', path: `/Users/${person.id}` })
    ok(again.status === 204 || again.status === 404, `${again.status} ${again.text}`)
  }
  model.remove(person)
}

export const races: readonly Step[] = [changeOneVersion, createTwice, switchBothWays, joinWhileLeaving]
