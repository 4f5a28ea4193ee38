// The compose file and the proxy's configuration beside it: valid by the specification, and at one with the service.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { parse } from 'yaml'
import { configFileSchema } from '../../src/config/schema.ts'
import { readContainerfile } from './containerfile.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

type Mount = { readonly source: string; readonly target: string }
type Service = {
  readonly image: string
  readonly read_only?: boolean
  readonly init?: boolean
  readonly volumes?: readonly string[]
  readonly secrets?: readonly Mount[]
  readonly configs?: readonly Mount[]
  readonly networks: readonly string[]
  readonly ports?: readonly string[]
  readonly stop_grace_period: string
  readonly environment?: Readonly<Record<string, string>>
  readonly healthcheck?: { readonly test: readonly string[] }
}
type Compose = {
  readonly services: Readonly<Record<'proxy' | 'gateway-1' | 'gateway-2' | 'postgres', Service>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
  readonly configs: Readonly<Record<string, { readonly file: string }>>
  readonly volumes: Readonly<Record<string, null>>
}

const compose = parse(read('deploy/compose/compose.yaml'), { merge: true }) as Compose
const { proxy, postgres, ...gateways } = compose.services
const settings = configFileSchema.parse(JSON.parse(read('deploy/compose/odyssey.json')))
const haproxy = read('deploy/compose/haproxy.cfg')
const page = read('docs/operations/compose.md')

test('the file is valid by the schema of the compose specification', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  const isValid = ajv.compile(JSON.parse(read('test/fixtures/deploy/compose-spec.json')) as object)
  ok(isValid(compose), ajv.errorsText(isValid.errors))
  ok(!isValid({ services: { gateway: { imag: 'odyssey' } } }), 'the schema takes a setting that does not exist')
})

test('there are two gateways, alike but for the data folder that each has for itself', () => {
  const [first, second] = [gateways['gateway-1'], gateways['gateway-2']]
  deepEqual({ ...first, volumes: null }, { ...second, volumes: null })
  deepEqual([first.volumes, second.volumes], [['gateway-1:/data'], ['gateway-2:/data']])
  ok(first.read_only)
  equal(first.environment?.['DATABASE_URL']?.startsWith('postgresql://odyssey:${POSTGRES_PASSWORD:?'), true)
})

test('the secret that all gateways share is mounted where the service looks for it, and every file is named on the page', () => {
  const [secret] = gateways['gateway-1'].secrets ?? []
  const { stages } = readContainerfile(read('deploy/container/Containerfile'))
  const environment = stages.at(-1)?.instructions.find(({ name }) => name === 'ENV')?.text ?? ''
  const home = /ODYSSEY_HOME=(\S+)/.exec(environment)?.[1]
  equal(secret?.target, `${home}/secret.key`)
  for (const { file } of Object.values(compose.secrets)) ok(page.includes(file.replace('./', '')), file)
  for (const { file } of Object.values(compose.configs)) ok(existsSync(join(root, 'deploy/compose', file)), file)
  ok(!existsSync(join(root, 'deploy/compose/secrets')))
})

test('nobody reaches PostgreSQL or a gateway but by the proxy', () => {
  for (const service of [postgres, ...Object.values(gateways)]) {
    equal(service.ports, undefined)
    deepEqual(service.networks, ['inside'])
  }
  equal(proxy.ports?.length, 1)
})

test('a gateway is not the first process of its container, which would hear no signal before it listens to one', () => {
  for (const { init } of Object.values(gateways)) equal(init, true)
})

test('gateways, which end where PostgreSQL cannot be reached, start only once it takes connections over TCP', () => {
  const [, program, ...words] = postgres.healthcheck?.test ?? []
  equal(program, 'pg_isready')
  equal(words[words.indexOf('--host') + 1], '127.0.0.1')
})

test('a stop gives the service longer than its notice and its drain', () => {
  const { noticeSeconds, drainSeconds } = settings.server
  for (const { stop_grace_period: period } of Object.values(gateways))
    ok(Number(/^(\d+)s$/.exec(period)?.[1]) >= noticeSeconds + drainSeconds + 20, period)
})

test('the proxy has noticed that a gateway is leaving before it refuses anything, however late that answers checks', () => {
  const [, inter = '', fall = ''] = /check inter (\d+)ms fall (\d+)/.exec(haproxy) ?? []
  const [, timeout = ''] = /timeout check (\d+)s/.exec(haproxy) ?? []
  ok(settings.server.noticeSeconds * 1_000 >= Number(fall) * (Number(inter) + Number(timeout) * 1_000))
  match(haproxy, /option httpchk GET \/readyz\n/)
})

test('the proxy sends to each gateway of the file, and repeats only what no gateway has seen', () => {
  const servers = [...haproxy.matchAll(/^ +server (\S+) (\S+):8080$/gm)].map(([, name, host]) => [name, host])
  deepEqual(
    servers,
    Object.keys(gateways).map((name) => [name, name]),
  )
  match(haproxy, /^ +retry-on conn-failure$/m)
})

test('the gateways believe the proxy where containers get their addresses, and the proxy believes nobody', () => {
  deepEqual(settings.server.trustedProxies, ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'])
  match(haproxy, /http-request set-header x-forwarded-for %\[src\]/)
})
