// `odyssey connect --write`: a client's own file, and everything in it that is not ours.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { parse as parseYaml } from 'yaml'
import { connect, emptyFolder, tryConnect } from '../harness/connect-here.ts'
import { runCli, tryCli } from '../harness/run-cli.ts'

process.env['ODYSSEY_HOME'] = emptyFolder()
delete process.env['ODYSSEY_KEY']

const key = 'sk-ody-ThisIsAKeyForTheTestsOnly0123456789'

/** The file of each client that has one, below the home folder. */
const files: Readonly<Record<string, readonly string[]>> = {
  'claude-code': ['.claude/settings.json'],
  opencode: ['.config/opencode/opencode.json'],
  'qwen-code': ['.qwen/settings.json'],
  cline: ['.cline/data/settings/providers.json'],
  continue: ['.continue/config.yaml'],
  aider: ['.aider.conf.yml', '.aider.model.metadata.json'],
  zed: ['.config/zed/settings.json'],
}

function homeWith(path: string, text: string): string {
  const home = emptyFolder()
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), text)
  return home
}

const write = (home: string, ...args: string[]) =>
  connect(...args, '--write', '--home', home, '--key', key, '--no-check')
const read = (home: string, path: string) => readFileSync(join(home, path), 'utf8')

describe('a client that has no settings yet', () => {
  for (const [name, paths] of Object.entries(files)) {
    test(`${name}: gets a file like the one printed, for its owner alone`, async () => {
      const home = emptyFolder()
      const printed = await connect(name, '--home', home, '--key', key, '--no-check')
      const told = await write(home, name)
      for (const path of paths) {
        ok(printed.includes(`~/${path}\n\n${read(home, path)}`), `${path} is as printed`)
        ok(told.includes(`~/${path} is new`))
        equal(statSync(join(home, path)).mode & 0o777, 0o600)
      }
      ok(!told.includes(key), 'no key is told')
    })

    test(`${name}: is left alone the second time`, async () => {
      const home = emptyFolder()
      await write(home, name)
      const before = paths.map((path) => read(home, path))
      const told = await write(home, name)
      for (const path of paths) ok(told.includes(`~/${path} says so already.`), told)
      deepEqual(
        paths.map((path) => read(home, path)),
        before,
      )
      deepEqual(
        readdirSync(dirname(join(home, paths[0] ?? ''))).toSorted(),
        paths.map((path) => path.split('/').at(-1)),
      )
    })
  }

  test('openai-js: has no file to write', async () => {
    const { fault } = await tryConnect('openai-js', '--write', '--key', key, '--no-check')
    match(fault?.message ?? '', /has no settings file that could be written/)
  })

  test('is not written without a key', async () => {
    const home = emptyFolder()
    const { fault } = await tryConnect('claude-code', '--write', '--home', home)
    match(fault?.message ?? '', /--write needs a key/)
    deepEqual(readdirSync(home), [])
  })

  test('is written where the variables of the client say', async () => {
    const [home, elsewhere] = [emptyFolder(), emptyFolder()]
    process.env['CLAUDE_CONFIG_DIR'] = elsewhere
    await connect('claude-code', '--write', '--key', key, '--no-check')
    ok(existsSync(join(elsewhere, 'settings.json')))
    await write(home, 'claude-code')
    ok(existsSync(join(home, '.claude/settings.json')), 'another home is not moved by them')
    delete process.env['CLAUDE_CONFIG_DIR']
  })
})

describe('settings that are there', () => {
  test('stay, with their order, in plain JSON', async () => {
    const path = '.claude/settings.json'
    const before =
      '{\n\t"permissions": { "allow": ["Bash(ls)"] },\n\t"env": {\n\t\t"ANTHROPIC_MODEL": "opus",\n\t\t"FOO": "1"\n\t}\n}\n'
    const home = homeWith(path, before)
    const told = await write(home, 'claude-code')
    const after = read(home, path)
    const { permissions, env } = JSON.parse(after) as Record<string, Record<string, unknown>>
    deepEqual(permissions, { allow: ['Bash(ls)'] })
    deepEqual([env?.['FOO'], env?.['ANTHROPIC_MODEL'], env?.['ANTHROPIC_AUTH_TOKEN']], ['1', 'clarke-1.0', key])
    ok(after.startsWith('{\n\t"permissions": { "allow": ["Bash(ls)"] },\n\t"env": {\n\t\t"ANTHROPIC_MODEL"'), after)
    match(after, /^\t\t"ANTHROPIC_BASE_URL"/m)
    match(told, /^ {2}- env\.ANTHROPIC_MODEL: "opus"\n {2}\+ env\.ANTHROPIC_MODEL: "clarke-1\.0"$/m)
    match(told, /^~\/\.claude\/settings\.json is changed; the old one is ~\/\.claude\/settings\.json\.bak$/m)
    equal(read(home, `${path}.bak`), before)
  })

  test('stay in JSON with comments, and the file that wins is the one written', async () => {
    const path = '.config/opencode/opencode.jsonc'
    const before = `{
    // my own theme
    "theme": "dark",
    "provider": {
        "mine": { "npm": "x" }, /* keep */
        "odyssey": { "options": { "timeout": 1000, "baseURL": "http://old/v1" } },
    },
}
`
    const home = homeWith(path, before)
    await write(home, 'opencode')
    const after = read(home, path)
    for (const part of [
      '// my own theme',
      '"theme": "dark"',
      '"mine": { "npm": "x" }, /* keep */',
      '"timeout": 1000',
    ]) {
      ok(after.includes(part), `${part} in ${after}`)
    }
    ok(after.includes('"baseURL": "http://127.0.0.1:8080/v1"') && !after.includes('http://old'))
    equal(existsSync(join(home, '.config/opencode/opencode.json')), false)
  })

  test('stay in YAML, comments too, and defaults do not overrule them', async () => {
    const path = '.continue/config.yaml'
    const before = `name: Mine # by hand
version: 0.0.1
schema: v1
models:
- name: Old model
  provider: ollama
  model: llama
  # slow, but mine
- name: Tycho 1.0
  provider: openai
  model: other
  requestOptions: {timeout: 5}
`
    const home = homeWith(path, before)
    await write(home, 'continue')
    const after = read(home, path)
    const { models, ...rest } = parseYaml(after) as { models: Record<string, unknown>[] }
    deepEqual(rest, { name: 'Mine', version: '0.0.1', schema: 'v1' })
    deepEqual(
      models.map(({ name, model }) => `${String(name)} ${String(model)}`),
      ['Old model llama', 'Tycho 1.0 tycho-1.0', 'Clarke 1.0 clarke-1.0', 'HAL 1.0 hal-1.0'],
    )
    deepEqual(models[1]?.['requestOptions'], { timeout: 5 })
    for (const line of ['name: Mine # by hand', '  # slow, but mine', '- name: Old model']) {
      ok(after.split('\n').includes(line), `${line} in ${after}`)
    }
  })

  test('stay when they are nothing but comments, or nothing at all', async () => {
    const aider = homeWith('.aider.conf.yml', '# my settings\n\n# nothing yet\n')
    await write(aider, 'aider')
    match(read(aider, '.aider.conf.yml'), /^# my settings$[^]*^openai-api-base: /m)
    const zed = homeWith('.config/zed/settings.json', '')
    await write(zed, 'zed')
    match(read(zed, '.config/zed/settings.json'), /"api_url": "http:\/\/127\.0\.0\.1:8080\/v1"/)
  })

  test('keep a mark at the beginning and the line ends of another system', async () => {
    const json = homeWith('.qwen/settings.json', '\u{FEFF}{\r\n  "ui": {}\r\n}\r\n')
    await write(json, 'qwen-code')
    const after = read(json, '.qwen/settings.json')
    ok(after.startsWith('\u{FEFF}{\r\n  "ui": {}'))
    ok(!/[^\r]\n/.test(after), 'all lines end the same')
    const yaml = homeWith('.aider.conf.yml', 'dark-mode: true\r\n')
    await write(yaml, 'aider')
    ok(!/[^\r]\n/.test(read(yaml, '.aider.conf.yml')))
  })

  test('settings of an item in a list are changed in their place, and other items stay', async () => {
    const path = '.qwen/settings.json'
    const mine = { id: 'clarke-1.0', baseUrl: 'http://old/v1', generationConfig: { timeout: 9 } }
    const other = { id: 'other', baseUrl: 'http://other/v1' }
    const home = homeWith(path, JSON.stringify({ modelProviders: { openai: [other, mine] } }))
    await write(home, 'qwen-code')
    const { modelProviders } = JSON.parse(read(home, path)) as { modelProviders: { openai: (typeof mine)[] } }
    deepEqual(
      modelProviders.openai.map(({ id }) => id),
      ['other', 'clarke-1.0', 'hal-1.0', 'tycho-1.0'],
    )
    deepEqual(modelProviders.openai[0], other)
    equal(modelProviders.openai[1]?.baseUrl, 'http://127.0.0.1:8080/v1')
    deepEqual(modelProviders.openai[1]?.generationConfig, { timeout: 9, contextWindowSize: 1_000_000 })
  })

  test('hold a key that is replaced and never told', async () => {
    const path = '.claude/settings.json'
    const home = homeWith(path, '{"env": {"ANTHROPIC_AUTH_TOKEN": "sk-of-another-vendor"}}')
    const told = await write(home, 'claude-code')
    ok(!told.includes('another-vendor') && !told.includes(key), told)
    match(told, /^ {2}- env\.ANTHROPIC_AUTH_TOKEN: "…"\n {2}\+ env\.ANTHROPIC_AUTH_TOKEN: "…6789"$/m)
  })

  test('are closed to others once they hold a key, and stay as open as they were without one', async () => {
    const [claude, zed] = [homeWith('.claude/settings.json', '{}'), homeWith('.config/zed/settings.json', '{}')]
    chmodSync(join(claude, '.claude/settings.json'), 0o644)
    chmodSync(join(zed, '.config/zed/settings.json'), 0o644)
    await write(claude, 'claude-code')
    await write(zed, 'zed')
    equal(statSync(join(claude, '.claude/settings.json')).mode & 0o777, 0o600)
    equal(statSync(join(zed, '.config/zed/settings.json')).mode & 0o777, 0o644)
  })

  test('are kept each time, the first ones longest', async () => {
    const path = '.claude/settings.json'
    const home = homeWith(path, '{"first": true}')
    await write(home, 'claude-code')
    const second = read(home, path)
    await write(home, 'claude-code', '--model', 'hal-1.0')
    deepEqual([read(home, `${path}.bak`), read(home, `${path}.bak2`)], ['{"first": true}', second])
  })

  test('stay where a link leads', async () => {
    const home = homeWith('dotfiles/claude.json', '{"mine": 1}')
    mkdirSync(join(home, '.claude'))
    symlinkSync(join(home, 'dotfiles/claude.json'), join(home, '.claude/settings.json'))
    await write(home, 'claude-code')
    ok(lstatSync(join(home, '.claude/settings.json')).isSymbolicLink())
    match(read(home, 'dotfiles/claude.json'), /"mine": 1/)
    match(read(home, 'dotfiles/claude.json'), /ANTHROPIC_BASE_URL/)
  })
})

describe('settings that cannot be changed safely', () => {
  const cases: readonly (readonly [name: string, path: string, text: string, reason: RegExp])[] = [
    ['claude-code', '.claude/settings.json', '{\n  "env": {\n', /is not valid JSON \(line \d: \w+\)\.$/],
    ['claude-code', '.claude/settings.json', '{ // no comments here\n}', /is not valid JSON \(line 1: \w+\)\.$/],
    ['claude-code', '.claude/settings.json', '{"a": 1,}', /is not valid JSON/],
    ['claude-code', '.claude/settings.json', '{"env": "none"}', /env is no object\.$/],
    ['claude-code', '.claude/settings.json', '[]', /the file is no object\.$/],
    ['claude-code', '.claude/settings.json', '{"env": {}, "env": {"a": "1"}}', /a name stands in it twice/],
    ['opencode', '.config/opencode/opencode.json', '{"provider": {"odyssey": {]}', /is not valid JSON/],
    ['qwen-code', '.qwen/settings.json', '{"modelProviders": {"openai": {}}}', /modelProviders\.openai is no list\.$/],
    ['continue', '.continue/config.yaml', 'models: [\nname: x', /is not valid YAML \(line \d+: /],
    ['continue', '.continue/config.yaml', 'name: a\nname: b\n', /is not valid YAML/],
    ['continue', '.continue/config.yaml', 'models: none\n', /models is no list\.$/],
    ['aider', '.aider.model.metadata.json', 'not JSON', /is not valid JSON/],
  ]
  for (const [name, path, text, reason] of cases) {
    test(`${name}: ${JSON.stringify(text)} is left as it is`, async () => {
      const home = homeWith(path, text)
      const before = readdirSync(dirname(join(home, path)))
      const { fault } = await tryConnect(name, '--write', '--home', home, '--key', key, '--no-check')
      const message = fault?.message ?? 'It did not fail.'
      ok(message.startsWith(`${join(home, path)} is left as it is: `), message)
      match(message, reason)
      equal(read(home, path), text)
      deepEqual(readdirSync(dirname(join(home, path))), before)
    })
  }

  test('are found out before a key is made', async () => {
    const home = homeWith('.claude/settings.json', '{')
    const data = emptyFolder()
    await runCli({ home: data }, 'migrate')
    const args = ['connect', 'claude-code', '--write', '--home', home, '--new-key', 'laptop']
    const { exitCode, stdout } = await tryCli({ home: data }, ...args)
    deepEqual([exitCode, stdout], [1, ''])
    equal(await runCli({ home: data }, 'keys', 'list'), 'keys: none.\n')
  })
})
