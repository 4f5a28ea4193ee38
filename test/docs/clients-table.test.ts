// The tables of clients are written by the programs that run them; here they are held to what is installed.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { agents } from '../conformance/agents/agents.ts'
import { turnCount } from '../conformance/agents/session/session-plan.ts'
import { clients } from '../conformance/clients/clients.ts'
import { installedVersion, readTable } from '../conformance/clients-table.ts'

/** A tally of which nothing is missing. */
function isWhole(cell: string | undefined): boolean {
  const [, passed, all] = /^(\d+) of (\d+)$/.exec(cell ?? '') ?? []
  return passed !== undefined && passed !== '0' && passed === all
}

test('the page lists every library in the version that is installed, with all it passed', () => {
  const table = readTable('libraries')
  assert.deepEqual(
    [...table.keys()],
    clients.map(({ name }) => name),
  )
  for (const { name, packages } of clients) {
    const [, versions = '', ...tallies] = table.get(name) ?? []
    for (const each of packages) assert.ok(versions.includes(` ${installedVersion(each)}`), `${each} in ${versions}`)
    assert.equal(tallies.length, 3)
    for (const tally of tallies) assert.ok(isWhole(tally), `${name}: ${tally}; npm run conformance writes it anew`)
  }
})

test('the page lists the Python libraries in the versions that are pinned', () => {
  const table = readTable('python')
  const pinned = readFileSync(join(import.meta.dirname, '../conformance/python/requirements.txt'), 'utf8')
  const versions = [...pinned.matchAll(/^(\w+)==(.+)$/gm)].map(([, name, version]) => `${name} ${version}`)
  const listed = [...table.values()].map(([name = '', version]) => `${/`(\w+)`/.exec(name)?.[1]} ${version}`)
  assert.deepEqual(listed.toSorted(), versions.toSorted())
  for (const [, , ...tallies] of table.values()) assert.ok(tallies.every(isWhole), tallies.join(', '))
})

test('the page lists the coding agents in the versions that are run', () => {
  const table = readTable('agents')
  assert.deepEqual(
    [...table.values()].map(([name, version]) => [name, version]),
    agents.map((agent) => [agent.name, `\`${agent.package}\` ${agent.version}`]),
  )
  for (const [name, , ...words] of table.values()) assert.ok(!words.includes('failed'), name ?? '')
})

test('the page tells of the long session in the version that is run', () => {
  const { name, version } = agents.find((agent) => agent.name === 'Claude Code') ?? assert.fail()
  const [, ran, word, turns] = readTable('session').get(name) ?? []
  assert.deepEqual([ran, word, turns], [version, 'done', String(turnCount)])
})
