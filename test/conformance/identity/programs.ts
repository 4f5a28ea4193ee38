// The programs that the service is tried with. They are fetched once, into a cache outside the repository, and checked
// by their sha256.

import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { claudeCode } from '../agents/agents.ts'
import { cacheFolder, checkFile, inFolder, Missing, orMissing } from '../../harness/programs/cache.ts'
import { findPython, makePython, unpackDebian } from '../../harness/programs/packages.ts'

const run = promisify(execFile)

export const keycloakVersion = '26.7.3'
const keycloakSha256 = '27a6535553c3cdcd083872ba40629efafb3475e3b758e0c6f691395561dd0f1f'

/** Keycloak, unpacked; its Maven artifact has 177 MB. */
export async function fetchKeycloak(): Promise<string> {
  const name = `keycloak-${keycloakVersion}`
  const home = join(cacheFolder(), name)
  if (existsSync(home)) return home
  const artifact = `org.keycloak:keycloak-quarkus-dist:${keycloakVersion}:zip`
  return inFolder(async (folder) => {
    const args = ['-q', '-B', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`]
    await orMissing(`Keycloak: it takes Maven (mvn), and a repository that has ${artifact}.`, run('mvn', args))
    const packed = join(folder, `keycloak-quarkus-dist-${keycloakVersion}.zip`)
    await checkFile(packed, keycloakSha256)
    await orMissing('Keycloak: it takes python3 to unpack.', run('python3', ['-m', 'zipfile', '-e', packed, folder]))
    renameSync(join(folder, name), home)
    return home
  })
}

/** The home of a Java that Keycloak runs on, 17 or later. */
export function findJava(): string {
  const named = process.env['JAVA_HOME']
  const usual = '/usr/lib/jvm'
  const installed = existsSync(usual) ? readdirSync(usual).map((name) => join(usual, name)) : []
  const found = [...(named === undefined ? [] : [named]), ...installed].find((home) => versionOf(home) >= 17)
  if (found === undefined) throw new Missing('Keycloak: it takes a Java of version 17 or later (JAVA_HOME).')
  return found
}

function versionOf(home: string): number {
  const { stderr } = spawnSync(join(home, 'bin/java'), ['-version'], { encoding: 'utf8' })
  return Number(/version "(\d+)/.exec(String(stderr))?.[1] ?? 0)
}

/** The folder of a Python with the packages of `requirements.txt`, each by its hash. */
export async function fetchPython(): Promise<string> {
  const requirements = join(import.meta.dirname, 'requirements.txt')
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16)
  const home = join(cacheFolder(), `identity-python-${digest}`)
  const wanted = ['--require-hashes', '--requirement', requirements]
  return findPython(home) ?? (await makePython(home, { wanted }, 'pysaml2 and the SCIM judges'))
}

const xmlsecSha256 = '8b4f54c0b0c14e7c9f40f3d9944bda4604ac4f7d7ffd9d47459b1cd749c87c05'

/** The program by which pysaml2 signs and encrypts: the system's own, or that of Debian's package, which is not installed. */
export async function fetchXmlsec(): Promise<string> {
  const installed = 'xmlsec1'
  if (spawnSync(installed, ['--version']).status === 0) return installed
  const home = join(cacheFolder(), 'xmlsec1')
  const program = join(home, 'usr/bin/xmlsec1')
  if (existsSync(program)) return program
  return inFolder(async (folder) => {
    const missing = 'pysaml2: there is no xmlsec1; install that package of the system.'
    renameSync(await unpackDebian('xmlsec1', { folder, missing, sha256: xmlsecSha256 }), home)
    if (spawnSync(program, ['--version']).status !== 0) throw new Missing(missing)
    return program
  })
}

const oktaUrl =
  'https://raw.githubusercontent.com/BerriAI/litellm/507d528a4247ba34c8579d4e855d9b01e64739d9/tests/scim_tests/scim_e2e_test.json'
const oktaSha256 = 'd7cb27f0fac1bc7e29370f8de441cad03d8c6b7d9e9f5e183be493dda9b2f457'

/** The requests that Okta publishes for whoever speaks SCIM with it, as they were in 2024 and another project keeps them. */
export async function fetchOktaRequests(): Promise<string> {
  const path = join(cacheFolder(), 'okta-scim.json')
  if (!existsSync(path)) {
    const fetched = async () => {
      const response = await fetch(oktaUrl, { signal: AbortSignal.timeout(30_000) })
      if (!response.ok) throw new Error(`It answered ${response.status}.`)
      return Buffer.from(await response.arrayBuffer())
    }
    const missing = `Okta’s requests: ${oktaUrl} cannot be fetched from here; put it at ${path}.`
    writeFileSync(path, await orMissing(missing, fetched()))
  }
  await checkFile(path, oktaSha256)
  return path
}

/** The modules with the version of Claude Code that agents are run with; they have 364 MB. */
export function fetchClaudeCode(): Promise<string> {
  return fetchModules('Claude Code', 'claude-code', claudeCode)
}

/** The modules with one version of a package, kept under a name; `called` is what people call it. */
export async function fetchModules(
  called: string,
  keptAs: string,
  { package: name, version }: { readonly package: string; readonly version: string },
): Promise<string> {
  const home = join(cacheFolder(), `${keptAs}-${version}`)
  const modules = join(home, 'node_modules')
  if (existsSync(modules)) return modules
  return inFolder(async (folder) => {
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', `${name}@${version}`]
    await orMissing(`${called}: npm cannot install ${name} ${version}.`, run('npm', args, { cwd: folder }))
    mkdirSync(home, { recursive: true })
    renameSync(join(folder, 'node_modules'), modules)
    return modules
  })
}
