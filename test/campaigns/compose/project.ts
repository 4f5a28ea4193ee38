// The project of deploy/compose in a folder of its own, with the files beside it that its page asks for.

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf } from '../../../src/lib/message-of.ts'
import { findFreePort } from '../../harness/http/find-free-port.ts'
import { makeCertificate } from '../../harness/make-certificate.ts'

const execute = promisify(execFile)
const root = join(import.meta.dirname, '../../..')
const bufferMax = 64 * 1024 * 1024
const dayMs = 86_400_000
/** Who must be able to read the files, as docs/operations/compose.md says. */
const users = { gateway: 10_001, proxy: 99 }

export type Project = {
  readonly address: string
  /** Runs docker compose on the project. Returns what it printed; what failed says what it said. */
  compose(...words: string[]): Promise<string>
  /** Takes everything away again: containers, networks, volumes, the image that was built for it, the folder. */
  remove(): Promise<void>
}

/** Throws, in words, where there is no compose or nobody who may give files to others. */
export async function openProject(log: (line: string) => void): Promise<Project> {
  await run(root, 'docker', 'compose', 'version').catch((error: unknown) => {
    throw new Error('This wants docker with its compose plugin.', { cause: error })
  })
  if (process.getuid?.() !== 0) throw new Error('This wants root, who gives the secrets to the users of the images.')
  const name = `odyssey-campaign-${randomBytes(4).toString('hex')}`
  const image = process.env['ODYSSEY_IMAGE'] ?? (await buildImage(`localhost/${name}:latest`, log))
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-compose-'))
  const port = await findFreePort()
  writeFiles(folder, { ODYSSEY_PORT: `127.0.0.1:${port}`, ODYSSEY_IMAGE: image })
  const compose = (...words: string[]) => run(folder, 'docker', 'compose', '--project-name', name, ...words)
  return {
    address: `https://127.0.0.1:${port}`,
    compose,
    async remove() {
      await compose('down', '--volumes', '--remove-orphans')
      rmSync(folder, { recursive: true, force: true })
      if (process.env['ODYSSEY_IMAGE'] === undefined) await run(root, 'docker', 'rmi', image)
    },
  }
}

async function buildImage(tag: string, log: (line: string) => void): Promise<string> {
  log(`building ${tag}`)
  const bases = ['NODE_IMAGE', 'BASE_IMAGE'].flatMap((name) => {
    const image = process.env[name]
    return image === undefined ? [] : ['--build-arg', `${name}=${image}`]
  })
  await run(root, 'docker', 'build', '--tag', tag, ...bases, '--file', 'deploy/container/Containerfile', '.')
  return tag
}

/** What the page has its reader write, down to the rights of the files. */
function writeFiles(folder: string, variables: Readonly<Record<string, string>>): void {
  cpSync(join(root, 'deploy/compose'), folder, { recursive: true })
  const all = { POSTGRES_PASSWORD: randomBytes(24).toString('hex'), ...variables }
  const lines = Object.entries(all).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(join(folder, '.env'), lines.join(''))
  const secrets = join(folder, 'secrets')
  mkdirSync(secrets)
  const { certificate, key } = makeCertificate('localhost', Date.now() + dayMs)
  const give = (name: string, text: string, user: number) => {
    const path = join(secrets, name)
    writeFileSync(path, text)
    chownSync(path, user, -1)
    chmodSync(path, 0o400)
  }
  give('secret.key', `${randomBytes(32).toString('hex')}\n`, users.gateway)
  give('certificate.pem', certificate + key, users.proxy)
  chmodSync(secrets, 0o711)
  chmodSync(folder, 0o711)
}

async function run(folder: string, program: string, ...words: string[]): Promise<string> {
  try {
    const { stdout } = await execute(program, words, { cwd: folder, maxBuffer: bufferMax })
    return stdout.trim()
  } catch (error) {
    const said = (error as { readonly stderr?: string }).stderr ?? ''
    throw new Error(`${program} ${words.join(' ')}: ${said.trim().slice(-2_000) || messageOf(error)}`, { cause: error })
  }
}
