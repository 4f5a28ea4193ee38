import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ConfigError } from './config-error.ts'
import { loadConfig } from './load.ts'
import { createSecret, loadSecrets } from './load-secret.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-config-'))
after(() => rmSync(folder, { recursive: true }))

function withFile(content: string): Record<string, string> {
  const path = join(folder, `${Math.random()}.json`)
  writeFileSync(path, content)
  return { ODYSSEY_CONFIG: path }
}

test('without anything there are defaults', () => {
  const config = loadConfig({}, folder)
  assert.deepEqual([config.host, config.port, config.home], ['127.0.0.1', 8080, join(folder, 'data')])
  assert.deepEqual(
    Object.values(config.models).map(({ thinking }) => thinking),
    ['off', 'on', 'off'],
  )
})

test('the environment wins over the file, and an empty variable is none', () => {
  const environment = { ...withFile('{"port": 1, "host": "0.0.0.0"}'), PORT: '9000', HOST: '' }
  const config = loadConfig(environment, folder)
  assert.deepEqual([config.host, config.port], ['0.0.0.0', 9000])
})

test('the dashboard is switched by a variable, however on and off are written, and by nothing else', () => {
  const isOn = (value: string, file = '{}') =>
    loadConfig({ ...withFile(file), ODYSSEY_DASHBOARD: value }, folder).dashboard.enabled
  for (const value of ['off', 'OFF', 'false', 'no', '0']) assert.equal(isOn(value), false, value)
  for (const value of ['on', 'True', 'yes', '1', ''])
    assert.equal(isOn(value, value === '' ? '{}' : '{"dashboard": {"enabled": false}}'), true, value)
  assert.throws(() => isOn('maybe'), { message: 'ODYSSEY_DASHBOARD=maybe: must be on or off.' })
})

test('a model may name its weights alone and keeps its own thinking', () => {
  const config = loadConfig(withFile('{"models": {"hal-1.0": {"weights": "a.gguf"}}}'), folder)
  assert.deepEqual(config.models['hal-1.0'], {
    weights: 'a.gguf',
    pool: null,
    thinking: 'on',
    outputTokensMax: 64_000,
    ropeScaling: null,
    chat: null,
    lifecycle: null,
  })
  assert.equal(config.models['clarke-1.0'].weights, null)
})

test('a notation of calls is filled up with what most of its kind have', () => {
  const chatOf = (tools: string) =>
    loadConfig(withFile(`{"models": {"hal-1.0": {"weights": "a.gguf", "chat": {"tools": ${tools}}}}}`), folder).models[
      'hal-1.0'
    ].chat
  assert.deepEqual(chatOf('{"notation": "envelope", "open": "<call>", "close": "</call>"}'), {
    tools: {
      notation: 'envelope',
      open: '<call>',
      close: '</call>',
      nameKey: 'name',
      argumentsKey: 'arguments',
      section: { open: '', close: '' },
      separator: '\n',
    },
    thinking: 'derived',
    system: 'derived',
    lateSystem: 'derived',
  })
  assert.throws(() => chatOf('{"notation": "marked", "open": "<call>", "close": "</call>"}'), /nameEnd/u)
  assert.throws(() => chatOf('{"notation": "xml"}'), /notation/u)
})

test('every fault is named in one readable list', () => {
  const environment = { ...withFile('{"engine": {"slots": 0, "gpus": 2}, "models": {"hal-2.0": {}}}'), PORT: 'http' }
  assert.throws(
    () => loadConfig(environment, folder),
    (error) => {
      assert.ok(error instanceof ConfigError)
      for (const part of ['PORT', 'engine.slots', 'gpus', 'hal-2.0']) assert.ok(error.message.includes(part), part)
      return true
    },
  )
})

test('a fault is said of the variable or of the file, whichever it came from', () => {
  const file = withFile('{"host": 1}')
  assert.throws(() => loadConfig({ ...file, PORT: '99999' }, folder), {
    message: /\.json: host: [^\n]+\nPORT=99999: [^\n]+$/,
  })
  assert.throws(() => loadConfig({ ...file, HOST: '::1', PORT: '99999' }, folder), { message: /^PORT=99999: [^\n]+$/ })
})

test('origins of pages are taken as browsers write them', () => {
  const load = (origin: string) => loadConfig(withFile(JSON.stringify({ server: { corsOrigins: [origin] } })), folder)
  for (const origin of ['*', 'https://example.com', 'http://localhost:3000', 'chrome-extension://abcdef']) {
    assert.deepEqual(load(origin).server.corsOrigins, [origin])
  }
  for (const origin of ['example.com', 'https://example.com/', 'https://Example.com', 'https://*.example.com', '']) {
    assert.throws(() => load(origin), ConfigError)
  }
})

/** What is wrong with a config file of these bytes, without its path. */
function faultOf(content: string | Uint8Array): string {
  const path = join(folder, 'faulty.json')
  writeFileSync(path, content)
  return faultAt(path)
}

function faultAt(path: string): string {
  try {
    loadConfig({ ODYSSEY_CONFIG: path }, folder)
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.message.replaceAll(path, 'FILE')
  }
  return ''
}

test('a file that cannot be a config file is refused in words for people', () => {
  assert.equal(faultAt(join(folder, 'nowhere.json')), 'There is no config file at FILE.')
  assert.equal(faultAt(folder), 'FILE is a folder, and must be a file.')
  if (process.platform !== 'win32') assert.equal(faultAt('/dev/zero'), 'FILE is no file.')
  for (const empty of ['', ' \n']) {
    assert.equal(faultOf(empty), 'FILE is empty. A config file without settings holds {}.')
  }
  assert.equal(faultOf('[1]'), 'FILE must hold a JSON object, which begins with { and ends with }.')
  assert.match(faultOf('{"port": 80,}'), /^FILE is not valid JSON: .+\(line 1 column 13\)\.$/)
  assert.equal(faultOf(Buffer.from('\ufeff{}', 'utf16le')), 'FILE is written in UTF-16. Save it as UTF-8.')
  for (const binary of [Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0, 0), Uint8Array.of(0x7b, 0xff, 0xc0, 0x7d)]) {
    assert.equal(faultOf(binary), 'FILE is no text in UTF-8, so it is no config file.')
  }
  assert.equal(faultOf(Buffer.alloc(5 * 1024 * 1024, ' ')), 'FILE is too large for a config file.')
})

test('a config file that this user may not read is refused as such', { skip: process.getuid?.() === 0 }, () => {
  const path = join(folder, 'closed.json')
  writeFileSync(path, '{}', { mode: 0 })
  assert.equal(faultAt(path), 'FILE cannot be read: this user may not read it.')
})

test('a folder that bears the name of the default config file is refused', () => {
  const home = join(folder, 'with-folder')
  mkdirSync(join(home, 'odyssey.json'), { recursive: true })
  assert.throws(() => loadConfig({ ODYSSEY_HOME: home }, folder), { message: /odyssey\.json is a folder/ })
})

test('a config file may begin with a mark of its encoding', () => {
  const path = join(folder, 'marked.json')
  writeFileSync(path, '\ufeff{"port": 81}')
  assert.equal(loadConfig({ ODYSSEY_CONFIG: path }, folder).port, 81)
})

test('an address or a port that is none is refused in one line, with what was given', () => {
  const rule = 'must be a whole number from 0 to 65535.'
  for (const port of ['abc', '70000', '-1', '8080.5', '0x50', '80 80', ' ', '99999999999999999999']) {
    assert.throws(() => loadConfig({ PORT: port }, folder), { message: `PORT=${port}: ${rule}` })
  }
  for (const host of [' ', 'a b', 'a\u0000']) {
    assert.throws(() => loadConfig({ HOST: host }, folder), {
      message: /^HOST=.+: must be an address or a name, without spaces\.$/s,
    })
  }
  assert.equal(faultOf('{"port": "80"}'), `FILE: port: ${rule}`)
  assert.equal(faultOf('{"port": 1e30}'), `FILE: port: ${rule}`)
  assert.equal(faultOf('{"host": ""}'), 'FILE: host: must be an address or a name, without spaces.')
  assert.equal(faultOf('{"metrics": {"port": 70000}}'), `FILE: metrics.port: ${rule}`)
})

test('the metrics and the clients have a port each where they share an address', () => {
  const rule = 'FILE: metrics.port: must be another one than PORT, which is 9464 too.'
  assert.equal(faultOf('{"port": 9464, "metrics": {"port": 9464}}'), rule)
  assert.equal(faultOf('{"host": "0.0.0.0", "port": 9464, "metrics": {"port": 9464}}'), rule)
  assert.equal(faultOf('{"port": 9464, "metrics": {"host": "localhost", "port": 9464}}'), rule)
  const path = join(folder, 'ports.json')
  const load = (content: object) => {
    writeFileSync(path, JSON.stringify(content))
    return loadConfig({ ODYSSEY_CONFIG: path }, folder).metrics.port
  }
  assert.equal(load({ port: 9464, metrics: { host: '127.0.0.2', port: 9464 } }), 9464)
  // Any that is free is another one.
  assert.equal(load({ port: 0, metrics: { port: 0 } }), 0)
})

test('a fault of any other field is said in words for people', () => {
  const cases: readonly (readonly [content: string, fault: string])[] = [
    ['{"logLevel": "loud"}', 'logLevel: must be debug or info or warn or error or silent.'],
    ['{"prot": 80}', 'FILE: there is no setting prot.'],
    ['{"engine": {"slots": 0}}', 'engine.slots: must be at least 1.'],
    ['{"engine": {"cacheFolder": ""}}', 'engine.cacheFolder: must not be empty.'],
    ['{"engine": []}', 'engine: must be an object in braces.'],
    ['{"server": {"corsOrigins": "*"}}', 'server.corsOrigins: must be a list in brackets.'],
    ['{"host": 1}', 'host: must be text in quotes.'],
  ]
  for (const [content, fault] of cases) assert.equal(faultOf(content).replace(/^FILE: (?!there)/, ''), fault)
})

test('chat settings need weights beside them, and are the same for all models of one file', () => {
  const chat = '"chat": {"thinking": "none"}'
  const fault = (models: string) => faultOf(`{"models": {${models}}}`)
  assert.equal(fault(`"hal-1.0": {${chat}}`), 'FILE: models.hal-1.0.chat: needs weights that are named beside it.')
  assert.equal(
    fault(`"hal-1.0": {"weights": "a.gguf", ${chat}}, "tycho-1.0": {"weights": "./a.gguf"}`),
    'FILE: models.hal-1.0.chat: must be that of tycho-1.0 too, which has the same weights.',
  )
  const alike = `{"weights": "a.gguf", ${chat}}`
  const config = loadConfig(withFile(`{"models": {"hal-1.0": ${alike}, "tycho-1.0": ${alike}}}`), folder)
  assert.equal(config.models['tycho-1.0'].chat?.thinking, 'none')
})

test('the database is named by the environment alone, and a fault does not repeat its password', () => {
  const url = 'postgresql://odyssey:secret@db/odyssey?sslmode=verify-full'
  assert.equal(loadConfig({ DATABASE_URL: url }, folder).databaseUrl, url)
  assert.equal(loadConfig({ DATABASE_URL: '' }, folder).databaseUrl, null)
  assert.throws(() => loadConfig(withFile(`{"databaseUrl": "${url}"}`), folder), ConfigError)
  for (const wrong of ['mysql://odyssey:secret@db/odyssey', 'postgresql://odyssey:secret@ db']) {
    assert.throws(
      () => loadConfig({ DATABASE_URL: wrong }, folder),
      (error) => error instanceof ConfigError && !error.message.includes('secret'),
    )
  }
})

test('a child learns nothing secret of the environment', () => {
  const { childEnvironment } = loadConfig({ PATH: '/bin', ODYSSEY_SECRET: 'x', AWS_SECRET_ACCESS_KEY: 'x' }, folder)
  assert.deepEqual(childEnvironment, { PATH: '/bin' })
})

test('the secret is made once, for the owner alone, and a damaged one is refused', () => {
  assert.throws(() => loadSecrets(folder), /secret\.key cannot be read: /)
  assert.deepEqual([createSecret(folder), createSecret(folder)], [true, false])
  const first = loadSecrets(folder)
  assert.deepEqual(loadSecrets(folder), first)
  assert.notDeepEqual(first.keyHashSecret, first.signatureKey)
  assert.equal(statSync(join(folder, 'secret.key')).mode & 0o777, 0o600)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('secret.key')),
    ['secret.key'],
  )
  writeFileSync(join(folder, 'secret.key'), 'short')
  assert.throws(() => loadSecrets(folder), /damaged/)
})

test('the password of the mail relay comes from a variable or a file, and stands in no setting', () => {
  const mail = (fields: object) =>
    withFile(JSON.stringify({ alerts: { mail: { host: 'relay', from: 'odyssey@example.com', ...fields } } }))
  writeFileSync(join(folder, 'password'), 'of the file\n')
  const named = { user: 'odyssey', password: 'env:MAIL_PASSWORD' }
  const ofVariable = loadConfig({ ...mail(named), MAIL_PASSWORD: 'of the variable' }, folder)
  const ofFile = loadConfig(mail({ ...named, password: 'file:password' }), folder)
  assert.deepEqual(
    [ofVariable, ofFile].map(({ mailSecrets }) => mailSecrets?.password),
    ['of the variable', 'of the file'],
  )
  assert.equal(loadConfig(mail({}), folder).mailSecrets?.password, null)
  assert.ok(!JSON.stringify(ofVariable.alerts).includes('of the variable'))
  const faults: [object, RegExp][] = [
    [named, /alerts\.mail\.password: the variable MAIL_PASSWORD is not set/],
    [{ ...named, password: 'file:nowhere' }, /alerts\.mail\.password: nowhere cannot be read/],
    [{ ...named, password: 'hunter2' }, /alerts\.mail\.password: must be env: and the name/],
    [{ user: 'odyssey' }, /alerts\.mail\.password: must be given where there is a user/],
    [{ caFile: 'nowhere' }, /alerts\.mail\.caFile: nowhere cannot be read/],
    [{ from: 'Odyssey <odyssey@example.com>' }, /alerts\.mail\.from: must be an e-mail address/],
    [{ recipientDomains: ['Example.com'] }, /must be a domain in small letters/],
  ]
  for (const [fields, words] of faults) assert.throws(() => loadConfig(mail(fields), folder), words)
})

test('a fault of a pool names its field', () => {
  const faultsOf = (pool: object) => {
    try {
      loadConfig(withFile(JSON.stringify({ pools: { big: pool } })), folder)
      return ''
    } catch (error) {
      assert.ok(error instanceof ConfigError)
      return error.message
    }
  }
  const vllm = { url: 'http://10.0.0.4:8000', kind: 'vllm' }
  const ollama = { url: 'http://10.0.0.5:11434', kind: 'ollama' }
  const tokenizer = 'model.gguf'
  assert.equal(faultsOf({ tokenizer, replicas: [vllm, { dns: 'vllm.svc:8000', kind: 'vllm' }] }), '')
  const command = ['vllm', 'serve', 'x', '--host', '127.0.0.1', '--port', '{port}']
  assert.equal(
    faultsOf({
      tokenizer,
      replicas: [
        { command, kind: 'vllm' },
        { command, kind: 'vllm' },
      ],
    }),
    '',
  )
  assert.equal(faultsOf({ sharedCache: true, replicas: [ollama] }), '')
  const cases: readonly (readonly [RegExp, object])[] = [
    [/pools\.big\.tokenizer.*must name/u, { replicas: [vllm] }],
    [/pools\.big\.tokenizer.*is for replicas that take tokens/u, { tokenizer, sharedCache: true, replicas: [ollama] }],
    [/pools\.big\.sharedCache.*must be true/u, { replicas: [ollama] }],
    [/replicas\.0\.kind.*must not take tokens/u, { sharedCache: true, replicas: [vllm, ollama] }],
    [/replicas\.0\.model.*is for replicas that take messages/u, { tokenizer, replicas: [{ ...vllm, model: 'x' }] }],
    [/replicas\.0.*must have one of url, dns and command/u, { tokenizer, replicas: [{ kind: 'vllm' }] }],
    [/replicas\.0\.command.*must have \{port\}/u, { tokenizer, replicas: [{ command: ['x'], kind: 'sglang' }] }],
    [
      /replicas\.0\.command.*must have --host 127\.0\.0\.1/u,
      { tokenizer, replicas: [{ command: ['vllm', '--port={port}'], kind: 'vllm' }] },
    ],
    [/replicas\.0\.dns.*must be a host with a port/u, { tokenizer, replicas: [{ dns: 'vllm.svc', kind: 'vllm' }] }],
    [/replicas.*must not name an address twice/u, { tokenizer, replicas: [vllm, vllm] }],
  ]
  for (const [expected, pool] of cases) assert.match(faultsOf(pool), expected)
})

test('a sink that would take the place of all others in the metrics is refused by its name', () => {
  const sinksNamed = (name: string) =>
    withFile(`{"audit": {"sinks": [{"kind": "file", "name": "${name}", "path": "a"}]}}`)
  assert.throws(() => loadConfig(sinksNamed('made'), folder), /audit\.sinks\.0\.name: must not be made/)
  assert.equal(loadConfig(sinksNamed('made-here'), folder).audit.sinks[0]?.name, 'made-here')
})
