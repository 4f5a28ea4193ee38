// Makes the package that is published: JavaScript in few files, the launcher, the starter weights, the pages of
// docs/ and what they install out of deploy/.
//
//     npm run package                writes build/odyssey-<version>.tgz
//     npm run package -- FOLDER      writes it elsewhere

import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { inlined } from './package/inlined.ts'

const root = join(import.meta.dirname, '..')
const build = resolve(process.argv[2] ?? join(root, 'build'))
const folder = join(build, 'package')

/** What of package.json is of use to who installs it. */
const kept = [
  'name',
  'version',
  'description',
  'license',
  'type',
  'engines',
  'bin',
  'dependencies',
  'optionalDependencies',
]

type Tools = { installTools(root: string, names: readonly string[], target: string): Promise<void> }

const require = createRequire(import.meta.url)
const modules = join(root, 'node_modules')

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
await withTools(buildPrograms)
for (const file of globSync('bin/*.cjs', { cwd: root })) copy(file)
for (const file of ['weights/starter.gguf', 'weights/starter.sha256', 'README.md', 'LICENSE', 'SECURITY.md']) copy(file)
// The pages tell of what is in the other folder, such as the unit for systemd.
for (const name of ['docs', 'deploy']) cpSync(join(root, name), join(folder, name), { recursive: true })
writeManifest()
// A setting of this repository keeps npm from running scripts; a package has none to run.
const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', build], { cwd: folder, encoding: 'utf8' })
console.log(join(build, fileNameOf(packed)))

/** Brings what building takes where nothing is installed, as in the building of an image, and takes it away again. */
async function withTools(work: () => Promise<void>): Promise<void> {
  if (existsSync(modules)) return work()
  const { installTools } = require('../bin/build-tools.cjs') as Tools
  const ofDashboard = JSON.parse(readFileSync(join(root, 'web/packages.json'), 'utf8')) as string[]
  await installTools(root, [...ofDashboard, 'rolldown', ...inlined], modules)
  try {
    await work()
  } finally {
    rmSync(modules, { recursive: true })
  }
}

/** The service with all that it starts, and the dashboard. */
async function buildPrograms(): Promise<void> {
  const { bundle } = await import('./package/bundle.ts')
  await bundle(join(root, 'src'), join(folder, 'dist'))
  execFileSync(process.execPath, [join(root, 'web/build.ts'), join(folder, 'web/dist')], {
    cwd: root,
    stdio: 'inherit',
  })
}

function writeManifest(): void {
  const whole = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>
  write('package.json', `${JSON.stringify(Object.fromEntries(kept.map((name) => [name, whole[name]])), null, 2)}\n`)
}

function copy(file: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  copyFileSync(join(root, file), join(folder, file))
}

function write(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), text)
}

/** npm names the file in a list, or since npm 12 by the package's name. */
function fileNameOf(text: string): string {
  const found = /"filename":\s*"([^"]+)"/.exec(text)?.[1]
  if (found === undefined) throw new Error(`npm pack has named no file:\n${text}`)
  return found
}
