import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createMetrics } from '../../src/telemetry/metrics.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

type Panel = { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }
const dashboard = JSON.parse(read('deploy/grafana/odyssey.json')) as { readonly panels: readonly Panel[] }

/** The names as Prometheus has them: a histogram is three series. */
async function offeredNames(): Promise<Set<string>> {
  const status = {
    state: 'ready',
    windowTokens: 1,
    features: new Set<never>(),
    running: 0,
    waiting: 0,
    slots: 1,
  } as const
  const { text } = await createMetrics({
    version: '1',
    readEngines: () => [{ model: 'hal-1.0', status }],
    readReplicas: () => [],
  }).expose()
  const names = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  )
  return new Set(names)
}

const usedNames = (text: string) => [...text.matchAll(/\b(?:odyssey|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => name)

test('every panel of the dashboard reads numbers that the service offers', async () => {
  const offered = await offeredNames()
  const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  assert.ok(expressions.length > 20)
  for (const expression of expressions) {
    const names = usedNames(expression)
    assert.ok(names.length > 0, expression)
    for (const name of names) assert.ok(offered.has(name), `${name} in ${expression}`)
  }
})

test('the page about metrics lists every number of our own, and no other', async () => {
  const documented = new Set(
    usedNames(read('docs/operations/metrics.md')).filter((name) => name.startsWith('odyssey_')),
  )
  const offered = [...(await offeredNames())].map((name) => name.replace(/_(?:bucket|sum|count)$/, ''))
  assert.deepEqual([...documented].sort(), [...new Set(offered.filter((name) => name.startsWith('odyssey_')))].sort())
})
