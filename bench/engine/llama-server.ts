import { spawn, type ChildProcess } from 'node:child_process'
import { createServer } from 'node:net'
import { until } from '../../test/harness/start-service.ts'
import type { Contestant, Setting } from './contestant.ts'
import { readAnswer } from './read-answer.ts'

/** Loading large weights from a slow disk takes minutes. */
const startMsMax = 600_000

export type LlamaServer = { readonly name: string; readonly path: string; readonly moreArguments: readonly string[] }

/** llama.cpp's own server on the same weights, given the same and otherwise as it comes. */
export async function startLlamaServer(program: LlamaServer, setting: Setting): Promise<Contestant> {
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const given = [...argumentsFor(setting), '--host', '127.0.0.1', '--port', String(port), ...program.moreArguments]
  const child = spawn(program.path, given, { stdio: ['ignore', 'pipe', 'pipe'] })
  process.once('exit', () => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-4_000)))
  }
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.once('error', (error) => (output += error.message))
  await until(() => isHealthy(address, child, () => output), 'llama-server did not become ready.', startMsMax)
  return {
    name: program.name,
    ask: ({ system, question, tokens }) =>
      readAnswer(address, 'none', {
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: question },
        ],
        // Odyssey's model does not think unless it is asked to.
        chat_template_kwargs: { enable_thinking: false },
        temperature: 0,
        n_predict: tokens,
        ignore_eos: true,
        cache_prompt: true,
      }),
    // It keeps no prompts on the disk by itself.
    restart: null,
    stop() {
      child.kill()
      return exited
    },
  }
}

function argumentsFor({ weightsPath, gpu, threads, slots, windowTokens, batchTokens, cacheBytes }: Setting): string[] {
  const counts = {
    // Shared evenly by the slots.
    '--ctx-size': windowTokens * slots,
    '--parallel': slots,
    ...(threads !== null && { '--threads': threads, '--threads-batch': threads }),
    '--batch-size': batchTokens,
    '--ubatch-size': batchTokens,
    '--cache-ram': Math.round(cacheBytes / 2 ** 20),
    ...(gpu === 'off' && { '--n-gpu-layers': 0 }),
  }
  return ['--model', weightsPath, ...Object.entries(counts).flatMap(([name, count]) => [name, String(count)])]
}

async function isHealthy(address: string, child: ChildProcess, output: () => string): Promise<boolean> {
  if (child.pid === undefined || child.exitCode !== null) throw new Error(`llama-server does not run:\n${output()}`)
  try {
    return (await fetch(`${address}/health`)).ok
  } catch {
    // It does not listen yet.
    return false
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
