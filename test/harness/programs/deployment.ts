// The programs that judge what is deployed: the chart, the manifests it renders and the alert rules.

import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder, inFolder, orMissing } from './cache.ts'
import { makePython, unpackDebian } from './packages.ts'
import type { Program } from './program.ts'

const run = promisify(execFile)

const helmVersion = '4.3.1'
const kubernetesValidateVersion = '1.37.0'

/** Helm, compiled from its module, whose content Go checks against the public record of all modules; takes minutes. */
export const helm: Program = {
  called: 'Helm',
  find: () => findInstalled('helm', ['version']) ?? ifThere(join(cacheFolder(), `helm-${helmVersion}`, 'helm')),
  fetch: () =>
    inFolder(async (folder) => {
      const module = `helm.sh/helm/v${helmVersion.split('.')[0]}/cmd/helm@v${helmVersion}`
      const places = ['GOBIN', 'GOPATH', 'GOCACHE'].map((name) => [name, join(folder, name.toLowerCase())] as const)
      const env = { ...process.env, ...Object.fromEntries(places) }
      // What the compiler leaves read-only could not be removed by whoever does not own the whole system.
      const install = run('go', ['install', '-modcacherw', '-trimpath', '-ldflags=-s -w', module], { env })
      await orMissing(`Helm: it takes Go, and a module proxy that has ${module}.`, install)
      const home = join(cacheFolder(), `helm-${helmVersion}`)
      mkdirSync(home, { recursive: true })
      renameSync(join(folder, 'gobin/helm'), join(home, 'helm'))
      return join(home, 'helm')
    }),
}

/** The schemas of Kubernetes' versions with a program that reads manifests by them, in a Python of its own. */
export const kubernetesValidate: Program = {
  called: 'kubernetes-validate',
  find: () => findInstalled('kubernetes-validate', ['--version']) ?? ifThere(keptValidate()),
  async fetch() {
    const home = join(keptValidate(), '../..')
    const wanted = [`kubernetes-validate==${kubernetesValidateVersion}`]
    await makePython(home, { wanted }, 'kubernetes-validate')
    return keptValidate()
  },
}

function keptValidate(): string {
  return join(cacheFolder(), `kubernetes-validate-${kubernetesValidateVersion}`, 'bin/kubernetes-validate')
}

/** Prometheus' own judge of rules, from the package of Debian and its kin, which is not installed. */
export const promtool: Program = {
  called: 'promtool',
  find: () => findInstalled('promtool', ['--version']) ?? ifThere(join(cacheFolder(), 'prometheus/usr/bin/promtool')),
  fetch: () =>
    inFolder(async (folder) => {
      const missing = 'promtool: install Prometheus; only from the packages of Debian and its kin is it fetched.'
      const unpacked = await unpackDebian('prometheus', { folder, missing })
      const home = join(cacheFolder(), 'prometheus')
      rmSync(home, { recursive: true, force: true })
      renameSync(unpacked, home)
      return join(home, 'usr/bin/promtool')
    }),
}

function findInstalled(name: string, words: readonly string[]): string | null {
  return spawnSync(name, words).status === 0 ? name : null
}

function ifThere(path: string): string | null {
  return existsSync(path) ? path : null
}
