// Whatever order a directory says things in, and however it writes them: after each of them the members, their roles and
// who is let in are as a plain model of it has them.

import { deepEqual, equal } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setDirectoryMappings } from '../../../src/accounts/directory/mappings.ts'
import type { Role } from '../../../src/core/role.ts'
import { createRandom, type Random } from '../../campaigns/random.ts'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { openDirectory, operator, type Fields, type TestDirectory } from './open-directory.ts'

const steps = 300

type Person = { readonly id: string; userName: string; title: string | null; isActive: boolean }
type Team = { readonly id: string; name: string; readonly members: Set<string> }

/** In this order: the first that somebody is in gives the role. */
const mappings = [
  { group: 'admins', role: 'admin', projectIds: [] },
  { group: 'money', role: 'billing', projectIds: [] },
  { group: 'readers', role: 'auditor', projectIds: [] },
] as const
const names = [...mappings.map(({ group }) => group), 'others', 'more']

class Model {
  readonly people = new Map<string, Person>()
  readonly teams = new Map<string, Team>()

  roleOf(id: string): Role {
    const own = new Set([...this.teams.values()].filter(({ members }) => members.has(id)).map(({ name }) => name))
    return mappings.find(({ group }) => own.has(group))?.role ?? 'developer'
  }
}

onEachDatabase((database) => {
  let directory: TestDirectory
  before(async () => {
    directory = await openDirectory(await database.open())
    const reference = { id: directory.id, organizationId: directory.organizationId }
    await setDirectoryMappings(directory.service.accounts, operator, reference, mappings)
  })
  after(() => directory.service.close())

  const listAll = async (path: string): Promise<readonly (Fields & { readonly id: string })[]> => {
    const found: (Fields & { readonly id: string })[] = []
    for (let start = 1; ; start += 7) {
      const { body } = await directory.ask('GET', `${path}?startIndex=${start}&count=7`)
      found.push(...(body['Resources'] as typeof found))
      if (found.length >= Number(body['totalResults'])) return found
    }
  }

  async function check(model: Model): Promise<void> {
    const users = await listAll('/Users')
    deepEqual(
      users.map(({ id, userName, title, active }) => ({ id, userName, title: title ?? null, isActive: active })),
      [...model.people.values()],
    )
    const groups = await listAll('/Groups')
    deepEqual(
      groups.map(({ id, displayName, members = [] }) => {
        return { id, name: displayName, members: (members as { value: string }[]).map(({ value }) => value).toSorted() }
      }),
      [...model.teams.values()].map(({ members, ...team }) => ({ ...team, members: [...members].toSorted() })),
    )
    const rows = await directory.service.db
      .selectFrom('members')
      .select(['id', 'role', 'suspended_at'])
      .where('organization_id', '=', directory.organizationId)
      .where('source', '=', 'scim')
      .where('removed_at', 'is', null)
      .execute()
    const shown = (list: readonly { readonly id: string; readonly role: Role; readonly isActive: boolean }[]) =>
      list.toSorted((one, other) => (one.id < other.id ? -1 : 1))
    deepEqual(
      shown(rows.map(({ id, role, suspended_at }) => ({ id, role, isActive: suspended_at === null }))),
      shown([...model.people.values()].map(({ id, isActive }) => ({ id, role: model.roleOf(id), isActive }))),
    )
  }

  /** One thing that a directory says, in one of the ways in which it is said. */
  async function step(model: Model, random: Random, index: number): Promise<void> {
    const person = random.pick([...model.people.values(), null])
    const team = random.pick([...model.teams.values(), null])
    const spell = (word: string) => random.pick([word, `${word.charAt(0).toUpperCase()}${word.slice(1)}`])
    const patch = async (path: string, operation: Fields) => {
      const answer = await directory.patch(path, operation)
      equal(answer.status < 300, true, `${JSON.stringify(operation)}: ${answer.text}`)
    }
    const kind = random.integer(0, 9)
    if (kind === 0 || person === null) {
      const isActive = random.integer(0, 3) > 0
      const made = await directory.user({ active: random.pick([isActive, String(isActive)]) })
      model.people.set(made.id, { id: made.id, userName: made.userName, title: null, isActive })
    } else if (kind === 1) {
      equal((await directory.ask('DELETE', `/Users/${person.id}`)).status, 204)
      model.people.delete(person.id)
      for (const { members } of model.teams.values()) members.delete(person.id)
    } else if (kind === 2 || kind === 3) {
      person.isActive = !person.isActive
      const said = random.pick([person.isActive, String(person.isActive), spell(String(person.isActive))])
      const [op, path] = [spell('replace'), `/Users/${person.id}`]
      if (random.integer(0, 1) === 0) await patch(path, { op, path: 'active', value: said })
      else await patch(path, { op, value: { active: said } })
    } else if (kind === 4) {
      person.title = `T${index}`
      person.userName = `renamed${index}@acme.example`
      const { userName, title, isActive: active } = person
      equal((await directory.ask('PUT', `/Users/${person.id}`, { userName, title, active })).status, 200)
    } else if (kind === 5 || team === null) {
      const name = names.find((one) => [...model.teams.values()].every((known) => known.name !== one))
      if (name === undefined) return
      const made = await directory.group(name, [person.id])
      model.teams.set(made.id, { id: made.id, name, members: new Set([person.id]) })
    } else if (kind === 6) {
      const value = random.pick([[{ value: person.id }], { value: person.id }, [{ value: person.id, $ref: null }]])
      await patch(`/Groups/${team.id}`, { op: spell('add'), path: 'members', value })
      team.members.add(person.id)
    } else if (kind === 7) {
      const ways = [
        { op: spell('remove'), path: 'members', value: [{ value: person.id }] },
        { op: spell('remove'), path: `members[value eq "${person.id}"]` },
      ]
      await patch(`/Groups/${team.id}`, random.pick(ways))
      team.members.delete(person.id)
    } else if (kind === 8) {
      const free = names.filter((one) => [...model.teams.values()].every((known) => known.name !== one))
      if (free.length === 0) return
      team.name = random.pick(free)
      const value = { displayName: team.name }
      if (random.integer(0, 1) === 0) await patch(`/Groups/${team.id}`, { op: spell('replace'), value })
      else await patch(`/Groups/${team.id}`, { op: 'replace', path: 'displayName', value: team.name })
    } else {
      equal((await directory.ask('DELETE', `/Groups/${team.id}`)).status, 204)
      model.teams.delete(team.id)
    }
  }

  test(`after each of ${steps} things that a directory says, members and roles are as it says`, async () => {
    const [model, random] = [new Model(), createRandom(70)]
    for (let index = 0; index < steps; index++) {
      await step(model, random, index)
      if (index % 10 === 9) await check(model)
    }
    await check(model)
  })
})
