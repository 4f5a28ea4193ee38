import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** Runs podman. Returns what it printed; what failed says what podman said. */
export async function podman(...words: string[]): Promise<string> {
  const { stdout } = await execute('podman', words, { maxBuffer: 64 * 1024 * 1024 })
  return stdout.trim()
}

/** What a container wrote to both of its outputs. */
export async function podmanLog(container: string): Promise<string> {
  const { stdout, stderr } = await execute('podman', ['logs', container], { maxBuffer: 64 * 1024 * 1024 })
  return stdout + stderr
}

/** Whether a command in a container ends well. */
export async function succeeds(container: string, ...words: string[]): Promise<boolean> {
  try {
    await podman('exec', container, ...words)
    return true
  } catch {
    return false
  }
}

/** Builds the image of this repository, and shows each line of that. */
export function buildImage(root: string, tag: string, log: (line: string) => void): Promise<void> {
  // The host's network, since a bridge is not to be had everywhere.
  const words = ['build', '--network', 'host', '--format', 'docker', '--tag', tag]
  words.push('--file', 'deploy/container/Containerfile', '.')
  const child = spawn('podman', words, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split('\n').filter((some) => some.trim() !== '')) log(line)
    })
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`There is no podman that can be started: ${error.message}`)))
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`podman build ended with ${String(code)}.`)),
    )
  })
}
