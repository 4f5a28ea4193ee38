// The chart for Kubernetes: its values, what Helm renders of it, and that by the schemas of seven versions of Kubernetes.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { Ajv } from 'ajv'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfig } from '../../src/config/load.ts'
import { configFileSchema } from '../../src/config/schema.ts'
import { helm as helmProgram, kubernetesValidate } from '../harness/programs/deployment.ts'
import { findProgram } from '../harness/programs/program.ts'

const root = join(import.meta.dirname, '../..')
const chart = join(root, 'deploy/chart')
const everything = join(root, 'test/fixtures/deploy/chart-values.yaml')
const read = (path: string) => readFileSync(join(chart, path), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'odyssey-chart-'))
after(() => rmSync(folder, { recursive: true }))

// Whatever a manifest holds, as far as these tests go into it.
type Manifest = Record<string, any> // eslint-disable-line typescript/no-explicit-any

const values = parse(read('values.yaml')) as Manifest
const schema = JSON.parse(read('values.schema.json')) as object

test('the values are what their schema says, and a value that is misspelled is refused', () => {
  const isValid = new Ajv({ strict: false }).compile(schema)
  ok(isValid(values), JSON.stringify(isValid.errors))
  const asked = Object.entries(parse(readFileSync(everything, 'utf8')) as Manifest)
  const isTree = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
  const merged = asked.map(([name, value]) => [name, isTree(value) ? { ...values[name], ...value } : value] as const)
  ok(isValid({ ...values, ...Object.fromEntries(merged) }), JSON.stringify(isValid.errors))
  for (const wrong of [{ replica: 2 }, { secrets: { installation: 'a' } }, { ingress: { enabled: true } }])
    ok(!isValid({ ...values, ...wrong }), JSON.stringify(wrong))
})

test('the config file of the values is one that the service takes', () => {
  const { noticeSeconds, drainSeconds } = configFileSchema.parse(values['config']).server
  // A gateway that is gone from the endpoints is known to all proxies of a cluster within some seconds.
  ok(noticeSeconds >= 5 && drainSeconds === configFileSchema.parse({}).server.drainSeconds)
})

test('no secret is among the values, and each is named on the page', () => {
  const page = readFileSync(join(root, 'docs/operations/kubernetes.md'), 'utf8')
  for (const name of Object.values(values['secrets'] as Record<string, string>))
    ok(page.includes(`secret generic ${name} `), name)
  ok(!/postgres(ql)?:\/\//.test(read('values.yaml')))
})

test('the version of the chart and of the product are one', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const about = parse(read('Chart.yaml')) as Manifest
  deepEqual([about['version'], about['appVersion']], [version, version])
})

const { path: helmPath, skip } = findProgram(helmProgram)
const helm = (...words: string[]) => spawnSync(helmPath, words, { encoding: 'utf8' })

/** Helm asks no cluster here, and would take some version of its own. */
const kubernetes = '1.34.0'

function render(...words: string[]): Manifest[] {
  const { status, stdout, stderr } = helm(
    'template',
    'release',
    chart,
    '--namespace',
    'ai',
    '--kube-version',
    kubernetes,
    ...words,
  )
  equal(status, 0, stderr)
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null)
}
const of = (manifests: readonly Manifest[], kind: string) => manifests.find((manifest) => manifest['kind'] === kind)!
const podsOf = (manifests: readonly Manifest[]): Manifest[] =>
  manifests.flatMap((manifest) =>
    manifest['kind'] === 'Pod'
      ? [manifest['spec']]
      : manifest['spec']?.template === undefined
        ? []
        : [manifest['spec'].template.spec],
  )

const valueSets = parse(readFileSync(join(root, 'test/fixtures/deploy/value-sets.yaml'), 'utf8')) as Manifest
const setPaths = Object.values(valueSets).map((set, index) => {
  // Helm takes a comma in a path for the border between two.
  const path = join(folder, `set-${index}.yaml`)
  writeFileSync(path, JSON.stringify(set))
  return path
})

test('Helm finds no fault in the chart, with twelve sets of values and with everything on', { skip }, () => {
  equal(setPaths.length, 12)
  for (const path of [...setPaths, everything]) {
    const { status, stdout } = helm('lint', '--strict', chart, '--values', path)
    equal(status, 0, `${path}\n${stdout}`)
  }
})

test('every pod runs as user 10001 without privileges, on a root that cannot be written', { skip }, () => {
  const pods = podsOf(render('--values', everything))
  equal(pods.length, 5)
  for (const { securityContext, automountServiceAccountToken, containers } of pods) {
    deepEqual([securityContext.runAsUser, securityContext.runAsNonRoot], [10_001, true])
    equal(securityContext.seccompProfile.type, 'RuntimeDefault')
    equal(automountServiceAccountToken, false)
    for (const { securityContext: own } of containers)
      deepEqual(own, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } })
  }
})

test(
  'a gateway is asked where the service answers, and is given longer than its notice and its drain',
  { skip },
  () => {
    const [pod] = podsOf([of(render('--set', 'config.server.drainSeconds=600'), 'StatefulSet')])
    equal(pod!['terminationGracePeriodSeconds'], 640)
    const [{ livenessProbe, readinessProbe, startupProbe }] = pod!['containers']
    deepEqual(
      [livenessProbe, startupProbe, readinessProbe].map(({ httpGet }) => httpGet.path as string),
      ['/healthz', '/healthz', '/readyz'],
    )
  },
)

test('secrets are mounted and referred to by name, and stand in no manifest', { skip }, () => {
  const text = JSON.stringify(render())
  const [pod] = podsOf([of(render(), 'StatefulSet')])
  const [{ env, volumeMounts }] = pod!['containers']
  deepEqual(env[0], { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'odyssey-database', key: 'url' } } })
  ok(volumeMounts.some(({ mountPath }: Manifest) => mountPath === '/data/secret.key'))
  ok(!text.includes('"kind":"Secret"'))
})

test(
  'autoscaling follows a number that the service offers, and then nothing else sets how many there are',
  { skip },
  () => {
    const manifests = render('--values', everything)
    const { metrics } = of(manifests, 'HorizontalPodAutoscaler')['spec']
    const name = metrics[0].pods.metric.name as string
    ok(readFileSync(join(root, 'docs/operations/metrics.md'), 'utf8').includes(`\`${name}\``))
    equal(of(manifests, 'StatefulSet')['spec'].replicas, undefined)
    equal(of(render(), 'StatefulSet')['spec'].replicas, 2)
  },
)

test('the config file that a pod reads is the one of the values, and a change of it starts pods anew', { skip }, () => {
  const written = JSON.parse(of(render(), 'ConfigMap')['data']['odyssey.json']) as unknown
  deepEqual(written, values['config'])
  const sumOf = (manifests: Manifest[]) =>
    of(manifests, 'StatefulSet')['spec'].template.metadata.annotations['checksum/config'] as string
  match(sumOf(render()), /^[0-9a-f]{64}$/)
  ok(sumOf(render()) !== sumOf(render('--set', 'config.server.drainSeconds=60')))
})

test('a pool of vLLM is in the config file under the names that its replicas have in the cluster', { skip }, () => {
  const manifests = render('--values', everything)
  const { pools } = configFileSchema.parse(JSON.parse(of(manifests, 'ConfigMap')['data']['odyssey.json']))
  const named = (kind: string, name: string) =>
    manifests.find(({ kind: its, metadata }) => its === kind && metadata.name === name)!
  const { replicas, serviceName } = named('StatefulSet', 'release-odyssey-big')['spec']
  const port = named('Service', serviceName as string)['spec'].ports[0].port as number
  const hosts = Array.from({ length: replicas }, (_, index) => `release-odyssey-big-${index}.${serviceName}:${port}`)
  deepEqual(
    pools['big']?.replicas.map(({ url }) => url),
    hosts.map((host) => `http://${host}`),
  )
  deepEqual([pools['big']?.resume, pools['small']?.replicas.length], ['always', 1])
})

test('the values on the page for a pool of vLLM are ones that the chart takes', { skip }, () => {
  const page = readFileSync(join(root, 'docs/operations/kubernetes.md'), 'utf8')
  const path = join(folder, 'page.yaml')
  writeFileSync(path, /```yaml\n([^]*?)```/.exec(page)?.[1] ?? '')
  writeFileSync(
    join(folder, 'odyssey.json'),
    of(render('--values', path), 'ConfigMap')['data']['odyssey.json'] as string,
  )
  const { models, pools } = loadConfig({ ODYSSEY_HOME: folder }, folder)
  equal(models['hal-1.0'].pool, 'big')
  equal(pools['big']?.replicas.length, 2)
})

test(
  'gateways read the tokenizer of a pool where they mount its models, and have the key that it asks for',
  { skip },
  () => {
    const manifests = render('--values', everything)
    const { pools } = configFileSchema.parse(JSON.parse(of(manifests, 'ConfigMap')['data']['odyssey.json']))
    const [gateway, big] = ['release-odyssey', 'release-odyssey-big']
      .map((name) => podsOf(manifests.filter(({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === name)))
      .map(([pod]) => pod!)
    const mount = gateway!['containers'][0].volumeMounts.find(({ name }: Manifest) => name === 'pool-big')
    equal(pools['big']?.tokenizer, `${mount.mountPath}/big-model`)
    equal(big!['containers'][0].args[0], '/models/big-model')
    const volumeOf = (pod: Manifest, wanted: string) => pod['volumes'].find(({ name }: Manifest) => name === wanted)
    deepEqual({ ...volumeOf(gateway!, 'pool-big'), name: 'models' }, volumeOf(big!, 'models'))
    const secretOf = (pod: Manifest, wanted: string) =>
      pod['containers'][0].env.find(({ name }: Manifest) => name === wanted)?.valueFrom.secretKeyRef
    const variable = pools['big']?.replicas[0]?.key?.slice('env:'.length) ?? ''
    deepEqual(secretOf(gateway!, variable), { name: 'big-key', key: 'key' })
    deepEqual(secretOf(gateway!, variable), secretOf(big!, 'VLLM_API_KEY'))
  },
)

test('gateways reach the replicas of a pool, which nobody else reaches and which reach nobody', { skip }, () => {
  const policies = render('--values', everything).filter(({ kind }) => kind === 'NetworkPolicy')
  const [own, big] = ['release-odyssey', 'release-odyssey-big'].map(
    (name) => policies.find(({ metadata }) => metadata.name === name)!['spec'] as Manifest,
  )
  const reached = own!['egress'].flatMap(({ to = [] }: Manifest) => to)
  ok(JSON.stringify(reached).includes(JSON.stringify(big!['podSelector'])))
  deepEqual(big!['ingress'][0].from, [{ podSelector: own!['podSelector'] }])
  deepEqual([big!['egress'], big!['policyTypes']], [[], ['Ingress', 'Egress']])
})

const { path: validatePath, skip: skipSchemas } = findProgram(kubernetesValidate)
const validate = (...words: string[]) => spawnSync(validatePath, words, { encoding: 'utf8' })
const noSchemas = skip || skipSchemas

/** The kinds of objects that are not of Kubernetes itself. */
const foreignKinds = ['ServiceMonitor', 'PrometheusRule']

/** What the chart renders of all sets of values, each object once, as Kubernetes' own kinds. */
function renderAllSets(): Manifest[] {
  const found = new Map<string, Manifest>()
  for (const manifest of [...setPaths, everything].flatMap((path) => render('--values', path)))
    found.set(JSON.stringify(manifest), manifest)
  return [...found.values()].filter(({ kind }) => !foreignKinds.includes(kind))
}

suite('every field of what the chart renders of twelve sets of values, and of everything', { skip: noSchemas }, () => {
  const path = join(folder, 'all.yaml')
  before(() => {
    const manifests = renderAllSets()
    ok(new Set(manifests.map(({ kind }) => kind as string)).size >= 9)
    writeFileSync(path, manifests.map((manifest) => JSON.stringify(manifest)).join('\n---\n'))
  })
  for (let minor = 31; minor <= 37; minor++) {
    test(`is known to Kubernetes 1.${minor}`, () => {
      const { status, stdout, stderr } = validate('--strict', '--kubernetes-version', `1.${minor}.0`, path)
      equal(status, 0, stdout + stderr)
    })
  }
})

test('a field that Kubernetes does not know would be found', { skip: noSchemas }, () => {
  const path = join(folder, 'wrong.yaml')
  const [service] = render().filter(({ kind }) => kind === 'Service')
  writeFileSync(path, JSON.stringify({ ...service, spec: { ...service!['spec'], portss: [] } }))
  ok(validate('--strict', '--kubernetes-version', kubernetes, path).status !== 0)
})

test('every template is rendered by the values that ask for everything', { skip }, () => {
  const { stdout } = helm('template', 'release', chart, '--kube-version', kubernetes, '--values', everything)
  for (const name of globSync('templates/**/*.yaml', { cwd: chart }))
    ok(stdout.includes(`# Source: odyssey/${name}`), name)
})

test('alert rules are an object of the chart where they are asked for', { skip }, () => {
  ok(!render().some(({ kind }) => kind === 'PrometheusRule'))
  const rendered = of(render('--set', 'prometheusRule.enabled=true'), 'PrometheusRule')
  const path = join(root, 'deploy/prometheus/odyssey-rules.yaml')
  deepEqual(rendered['spec'], parse(readFileSync(path, 'utf8')))
})
