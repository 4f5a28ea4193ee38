import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { commands } from '../../src/cli/commands.ts'
import { UsageError } from '../../src/cli/usage-error.ts'
import { usageOf } from '../../src/cli/usage.ts'
import { tryCli } from '../harness/run-cli.ts'

let home: string

before(() => {
  home = mkdtempSync(join(tmpdir(), 'odyssey-help-'))
})
after(() => rmSync(home, { recursive: true }))

suite('whoever asks for help gets it, and nothing is done', { timeout: 60_000 }, () => {
  for (const [words, start] of [
    [[], 'Usage: odyssey <command>'],
    [['help'], 'Usage: odyssey <command>'],
    [['--help'], 'Usage: odyssey <command>'],
    [['serve', '--help'], 'Usage:\n\n  serve '],
    [['serve', '-h'], 'Usage:\n\n  serve '],
    [['models', 'pull', '--help'], 'Usage:\n\n  models '],
  ] as const) {
    test(['odyssey', ...words].join(' '), async () => {
      const { exitCode, stdout, stderr } = await tryCli({ home }, ...words)
      equal(exitCode, 0)
      equal(stderr, '')
      equal(stdout.slice(0, start.length), start)
      deepEqual(readdirSync(home), [])
    })
  }

  test('odyssey --version', async () => {
    match((await tryCli({ home }, '--version')).stdout, /^odyssey \d+\.\d+\.\d+\n$/)
  })

  test('every command has lines of its own, and they are its own', async () => {
    const { stdout } = await tryCli({ home }, '--help')
    const names = new Set([...stdout.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name))
    ok(names.size > 15)
    for (const name of names) {
      const { stdout: own } = await tryCli({ home }, name, '--help')
      for (const [, first] of own.matchAll(/^ {2}([a-z-]+)/gm)) equal(first, name)
    }
  })
})

suite('what no command takes is refused before anything is done', { timeout: 60_000 }, () => {
  for (const [words, said] of [
    [['serve', '--port', '1'], /\n\nUsage:\n\n {2}serve /],
    [['serve', 'now'], /\n\nUsage:\n\n {2}serve /],
    [['nothing', '--help'], /^There is no command nothing\.\n\nodyssey --help lists all commands\.\n$/],
    [['nothing'], /^There is no command nothing\.\n\nodyssey --help lists all commands\.\n$/],
    [['keys', 'revoke', 'key_a', 'key_b'], /^“key_b” is a word too many\. .+\n\nUsage:\n\n {2}keys /],
    [
      ['keys', 'create', '--name', 'my', 'laptop'],
      /^“laptop” is a word too many\. A value with spaces in it goes into/,
    ],
    [['prices', 'set', 'hal-1.0', 'clarke-1.0', '--input', '3'], /^“clarke-1\.0” is a word too many\. /],
    [['organizations', 'prioritize', 'org_a', 'batch', 'org_b'], /^“org_b” is a word too many\. /],
    [['sso', 'connections', 'list', 'more'], /^“more” is a word too many\. /],
    [['doctor', 'now'], /^“now” is a word too many\. /],
  ] as const) {
    test(['odyssey', ...words].join(' '), async () => {
      const { exitCode, stdout, stderr } = await tryCli({ home }, ...words)
      equal(exitCode, 2)
      equal(stdout, '')
      match(stderr, said)
      deepEqual(readdirSync(home), [])
    })
  }
})

suite('no command does a part of what it was asked and drops the other words', { timeout: 60_000 }, () => {
  const homeBefore = process.env['ODYSSEY_HOME']
  // Were one to go on all the same, it should find no installation.
  before(() => (process.env['ODYSSEY_HOME'] = home))
  after(() => {
    if (homeBefore === undefined) delete process.env['ODYSSEY_HOME']
    else process.env['ODYSSEY_HOME'] = homeBefore
  })
  const surplus = ['one', 'two', 'three', 'four']

  // What serve does before it reads its words, it does to the whole process.
  for (const [name, load] of Object.entries(commands).filter(([command]) => command !== 'serve')) {
    test(`odyssey ${name}`, async () => {
      const command = await load()
      // Among the words of its help are all of its verbs; the others are none, and refused as such.
      const words = new Set(usageOf(name)?.match(/(?<![\w-])[a-z][a-z-]*/g))
      ok(words.has(name))
      for (const word of words) await rejects(command([word, ...surplus]), UsageError, `${name} ${word}`)
      await rejects(command(surplus), UsageError)
    })
  }
})
