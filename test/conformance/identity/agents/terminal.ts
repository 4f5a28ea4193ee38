import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { Missing } from '../../../harness/programs/cache.ts'

const patienceMs = 60_000

/** A program in a terminal, whose keys are pressed as somebody does who reads what stands there. */
export class Terminal {
  readonly #child: ChildProcess
  #shown = ''
  /** As far as has been read. */
  #read = 0

  constructor({ file, environment, folder }: { file: string; environment: Record<string, string>; folder: string }) {
    if (spawnSync('script', ['--version']).status !== 0) {
      throw new Missing('Claude Code: there is no script (util-linux), which gives it a terminal.')
    }
    const args = ['--quiet', '--flush', '--return', '--command', `stty cols 120 rows 50; exec '${file}'`, '/dev/null']
    const env = { ...environment, TERM: 'xterm-256color' }
    this.#child = spawn('script', args, { cwd: folder, env, detached: true, stdio: ['pipe', 'pipe', 'ignore'] })
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#shown += text))
  }

  /** Waits until something stands there that did not before, and returns it. White space counts as none. */
  async see(pattern: RegExp): Promise<string> {
    const untilMs = performance.now() + patienceMs
    for (;;) {
      const plain = stripVTControlCharacters(this.#shown.slice(this.#read)).replaceAll(/\s+/g, '')
      const found = pattern.exec(plain)
      if (found !== null) {
        this.#read = this.#shown.length
        return found[0]
      }
      if (performance.now() > untilMs)
        throw new Error(`The terminal does not show ${pattern.source}: ${plain.slice(-800)}`)
      await wait(50)
    }
  }

  /** Presses keys one after the other, as slowly as the program draws. */
  async press(...keys: readonly ('enter' | 'up')[]): Promise<void> {
    for (const key of keys) {
      await wait(700)
      this.#child.stdin?.write(key === 'enter' ? '\r' : '\u001B[A')
    }
  }

  close(): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
}
