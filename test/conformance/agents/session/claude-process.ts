import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import type { Listening } from '../../clients/client.ts'
import { environmentIn } from '../run-agent.ts'

export type TurnEnd = { readonly isError: boolean; readonly text: string }

/** A conversation without a terminal, a line of JSON for each message. */
export type ClaudeProcess = {
  readonly sessionId: string
  /** Sends a prompt and waits for the end of what it leads to. */
  ask(prompt: string): Promise<TurnEnd>
  interrupt(): void
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>
  /** Lets it end by itself. */
  close(): Promise<number | null>
}

export type ClaudeOptions = Listening & {
  readonly modules: string
  readonly folder: string
  readonly debugFile: string
  /** The conversation to go on with. */
  readonly resumes: string | null
}

const waitMsMax = 120_000

/** The four settings, and nothing else. */
function fourSettings({ address, key }: Listening): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: address,
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_MODEL: 'clarke-1.0',
    ANTHROPIC_SMALL_FAST_MODEL: 'tycho-1.0',
  }
}

export function startClaude(options: ClaudeOptions): ClaudeProcess {
  const { modules, folder, debugFile, resumes } = options
  const file = join(modules, `@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`)
  const format = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']
  const tools = ['--allowedTools', 'Read,Write,Bash,Agent', '--debug-file', debugFile]
  const child = spawn(file, ['-p', ...format, ...tools, ...(resumes === null ? [] : ['--resume', resumes])], {
    cwd: folder,
    env: { ...environmentIn(folder), ...fourSettings(options) },
    // A group of its own, so that what it leaves running ends with it.
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  let waiting: PromiseWithResolvers<TurnEnd> | null = null
  let sessionId = resumes ?? ''
  createInterface({ input: child.stdout }).on('line', (line) => {
    const event = JSON.parse(line) as { type: string; session_id?: string; is_error?: boolean; result?: string }
    sessionId = event.session_id ?? sessionId
    if (event.type === 'result') waiting?.resolve({ isError: event.is_error === true, text: event.result ?? '' })
  })
  child.stdin.on('error', () => {})
  const send = (message: unknown) => child.stdin.write(`${JSON.stringify(message)}\n`)
  const endGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // All of it has ended by itself.
    }
  }
  process.once('exit', endGroup)
  void exited.then((code) => waiting?.reject(new Error(`Claude Code ended with ${code}.`)))
  return {
    get sessionId() {
      return sessionId
    },
    ask(prompt) {
      waiting = Promise.withResolvers<TurnEnd>()
      waiting.promise.catch(() => {})
      send({ type: 'user', message: { role: 'user', content: prompt } })
      return within(waiting.promise, prompt)
    },
    interrupt: () => send({ type: 'control_request', request_id: 'interrupt', request: { subtype: 'interrupt' } }),
    async kill() {
      endGroup()
      await exited
    },
    async close() {
      child.stdin.end()
      const code = await within(exited, 'the end')
      endGroup()
      return code
    },
  }
}

async function within<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`There is no end to: ${what}`)), waitMsMax)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
