// The alert rules for Prometheus: what they read is there in a running service, and what they say leads somewhere.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { parser } from '@prometheus-io/lezer-promql'
import { parse } from 'yaml'
import { writeBurnRules } from '../../src/alerts/burn-rules.ts'
import { measuredBy } from '../../src/billing/availability/objectives.ts'
import { slugOf } from '../../web/guides/guide-list.ts'
import { promtool } from '../harness/programs/deployment.ts'
import { findProgram } from '../harness/programs/program.ts'
import { startService } from '../harness/start-service.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

type Rule = {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
  readonly for?: string
  readonly labels?: { readonly severity: string }
  readonly annotations?: Readonly<Record<'summary' | 'description' | 'runbook_url', string>>
}
const text = read('deploy/prometheus/odyssey-rules.yaml')
const { groups } = parse(text) as { readonly groups: readonly { readonly name: string; readonly rules: Rule[] }[] }
const rules = groups.flatMap(({ rules: own }) => own)
const alerts = rules.filter(({ alert }) => alert !== undefined)

/** The metrics that an expression reads; throws where Prometheus could not read it. */
function metricsIn(expression: string): string[] {
  const names: string[] = []
  parser.parse(expression).iterate({
    enter({ type, from, to, node }) {
      ok(!type.isError, `${expression} at ${from}`)
      if (type.name === 'Identifier' && node.parent?.type.name === 'VectorSelector')
        names.push(expression.slice(from, to))
    },
  })
  return names
}

test('expressions with mistakes are found', () => {
  for (const wrong of ['sum(rate(x[5m])', 'x > > 1', 'rate(x[5q])']) {
    let isFound = false
    try {
      metricsIn(wrong)
    } catch {
      isFound = true
    }
    ok(isFound, wrong)
  }
  deepEqual(metricsIn('sum by (le) (rate(a_bucket{b="c"}[5m])) / d'), ['a_bucket', 'd'])
})

test('every expression is one of Prometheus, of numbers that a running service offers or that are recorded', async () => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  const service = await startService({ config: { metrics: { port } } })
  try {
    const answer = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    const offered = [...answer.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    )
    // These are there where the config file names pools.
    const ofPools = ['odyssey_replica_up']
    const known = new Set([...offered, ...ofPools, ...rules.flatMap(({ record = [] }) => record)])
    ok(rules.length > 20)
    for (const { expr } of rules) {
      const names = metricsIn(expr)
      ok(names.length > 0, expr)
      for (const name of names) ok(known.has(name), `${name} in ${expr}`)
    }
    const free = Number(/^odyssey_disk_free_bytes (\S+)$/m.exec(answer)?.[1])
    ok(free > 0, 'The disk is looked at before anybody asks.')
  } finally {
    await service.stop()
  }
})

test('every alert has a weight, words, and a place in the runbooks, which name it there', () => {
  const page = read('docs/operations/runbooks.md')
  const sections = page.split(/^## /m).slice(1)
  const base = `http://localhost:8080/docs/guides/${slugOf('operations/runbooks.md')}#`
  for (const { alert = '', labels, annotations } of alerts) {
    ok(['page', 'ticket'].includes(labels?.severity ?? ''), alert)
    ok((annotations?.summary ?? '') !== '' && (annotations?.description ?? '') !== '', alert)
    const url = annotations?.runbook_url ?? ''
    ok(url.startsWith(base), url)
    const anchor = url.slice(base.length)
    const section = sections.find((own) => own.split('\n', 1)[0]?.toLowerCase().replaceAll(' ', '-') === anchor)
    ok(section?.includes(`\`${alert}\``) === true, `${alert} has no place at #${anchor}.`)
  }
  const named = [...page.matchAll(/`(Odyssey\w+)`/g)].map(([, name]) => name)
  deepEqual(new Set(named), new Set(alerts.map(({ alert }) => alert)))
  equal(new Set(alerts.map(({ alert }) => alert)).size, alerts.length)
})

test('the error budget has the rules that the service writes for what it measures by', () => {
  const { availabilityPpm } = measuredBy
  const written = writeBurnRules({ availabilityPpm, publicUrl: 'http://localhost:8080' })
  deepEqual((parse(written) as { readonly groups: unknown }).groups, groups.slice(0, 1))
  const other = writeBurnRules({ availabilityPpm: 995_000, publicUrl: 'https://ai.example.com' })
  ok(other.includes('> 14.4 * 0.005') && !other.includes('* 0.001'))
  equal(other.match(/https:\/\/ai\.example\.com\/docs/g)?.length, 2)
})

test('the chart has the same rules', () => {
  equal(read('deploy/chart/rules/odyssey-rules.yaml'), text)
})

const judge = findProgram(promtool)

test('Prometheus itself finds that the alerts speak of outages, and not of a single failure at night', judge, () => {
  const files = ['odyssey-rules.test.yaml', 'odyssey-rules-days.test.yaml'].map((name) => `deploy/prometheus/${name}`)
  const { status, stdout, stderr } = spawnSync(judge.path, ['test', 'rules', ...files], { cwd: root, encoding: 'utf8' })
  equal(status, 0, `${stdout}${stderr}`)
})
