// What a directory has said, in the plainest form: who is there, in which groups, and which keys must work.

import { deepEqual } from 'node:assert/strict'
import type { MemberId } from '../../../src/core/ids.ts'
import type { Role } from '../../../src/core/role.ts'
import type { Key } from '../gateways/start-gateways.ts'
import type { Fields } from './gateways.ts'

export type Person = {
  readonly id: MemberId
  userName: string
  title: string | null
  isActive: boolean
  /** Somebody here has disabled the key; no directory brings it back. */
  key: (Key & { isDisabled: boolean }) | null
}

export type Team = { readonly id: string; name: string; readonly members: Set<string> }

const roles = ['admin', 'billing', 'auditor'] as const

/** A part of the directory that one client speaks of, so that several may speak at once. */
export class Model {
  /** With which all names of this part begin. */
  readonly prefix: string
  readonly people = new Map<string, Person>()
  readonly teams = new Map<string, Team>()
  /** Of people who have been deleted. */
  readonly ended: Key[] = []
  readonly gone: string[] = []

  constructor(number: number) {
    this.prefix = `part${number}-`
  }

  /** In this order: the first that somebody is in gives the role. */
  get mappings() {
    return roles.map((role) => ({ group: `${this.prefix}${role}`, role, projectIds: [] }))
  }

  get teamNames(): readonly string[] {
    return [...this.mappings.map(({ group }) => group), `${this.prefix}others`, `${this.prefix}more`]
  }

  freeName(): string | undefined {
    return this.teamNames.find((name) => [...this.teams.values()].every((team) => team.name !== name))
  }

  roleOf(id: string): Role {
    const own = new Set([...this.teams.values()].filter(({ members }) => members.has(id)).map(({ name }) => name))
    return this.mappings.find(({ group }) => own.has(group))?.role ?? 'developer'
  }

  remove(person: Person): void {
    this.people.delete(person.id)
    for (const { members } of this.teams.values()) members.delete(person.id)
    if (person.key !== null) this.ended.push(person.key)
    this.gone.push(person.userName)
  }

  /** Each key with whether it must work. */
  keys(): readonly (readonly [Key, boolean])[] {
    const held = [...this.people.values()].flatMap(({ key, isActive }) =>
      key === null ? [] : [[key, isActive && !key.isDisabled] as const],
    )
    return [...held, ...this.ended.map((key) => [key, false] as const)]
  }

  /** Throws where users are told otherwise than they are. */
  checkUsers(told: readonly Fields[], isWanted: (person: Person) => boolean = () => true): void {
    deepEqual(
      told.map(({ id, userName, title, active }) => ({ id, userName, title: title ?? null, isActive: active })),
      [...this.people.values()]
        .filter(isWanted)
        .map(({ id, userName, title, isActive }) => ({ id, userName, title, isActive })),
    )
  }

  checkTeams(told: readonly Fields[]): void {
    const shown = told.map(({ id, displayName, members = [] }) => {
      return { id, name: displayName, members: (members as { value: string }[]).map(({ value }) => value).toSorted() }
    })
    const known = [...this.teams.values()].map((team) => ({ ...team, members: [...team.members].toSorted() }))
    deepEqual(shown, known)
  }
}
