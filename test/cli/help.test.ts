import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
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
