import { EventEmitter } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import { getLlama, getLlamaGpuTypes, LlamaLogLevel, type Llama } from 'node-llama-cpp'
import type { LoadSettings } from '../ipc.ts'
import { hasNvidiaCard } from '../nvidia-card.ts'
import { hasFilteredCalls } from './give-up-rest.ts'
import { usableProcessors } from './threads/usable-processors.ts'

/** The library itself, which is there long before weights are loaded. Rejects where a kind of card that was named computes nothing. */
export async function openLibrary({ gpu }: Pick<LoadSettings, 'gpu'>): Promise<Llama> {
  const open = () =>
    getLlama({
      gpu: gpu === 'off' ? false : gpu,
      build: 'never',
      skipDownload: true,
      logLevel: LlamaLogLevel.error,
      progressLogs: false,
      // The library would allow itself four threads where there are fewer processors.
      maxThreads: usableProcessors(),
    })
  const library = await ((await isTried(gpu)) ? open() : withoutTrial(open))
  if (gpu === 'off' || gpu === 'auto' || library.gpu !== false) return library
  throw new Error(`The engine's build for ${gpu} finds no card; "odyssey doctor" says what is missing.`)
}

/**
 * Whether the library tries its builds out first.
 *
 * Where the processor alone can compute there is one build, and no other to take in its place: the trial's process took up to a
 * second of a processor at each start, and could say no more than the opening itself does.
 */
async function isTried(gpu: LoadSettings['gpu']): Promise<boolean> {
  if (gpu === 'off' || (hasFilteredCalls() && hasNvidiaCard())) return false
  if (gpu !== 'auto') return true
  const kinds = await getLlamaGpuTypes('supported')
  return kinds.some((kind) => kind !== false)
}

/**
 * Has the library open its builds without a trial.
 *
 * It tries each one out in a process of its own first. NVIDIA's driver writes into the folder of its process in `/proc`, and a
 * confined child may write to its own there and to none that it starts: a trial would find no card where the child itself has one.
 * A build that breaks ends the child, as a trial would have ended; one that finds no card computes without.
 */
export async function withoutTrial<Opened>(open: () => Promise<Opened>): Promise<Opened> {
  if (openings === 0) replaceFork(forkOthers as unknown as typeof fork)
  openings += 1
  try {
    return await open()
  } finally {
    openings -= 1
    if (openings === 0) replaceFork(fork)
  }
}

// Not imported, since nothing is to be started here: an import could not be changed either.
const childProcess = process.getBuiltinModule('node:child_process')
const { fork } = childProcess
/** How many open the library at the moment: the last of them leaves processes as they were. */
let openings = 0

function forkOthers(path: string | URL, ...rest: never[]): unknown {
  return isTrial(path) ? passTrial() : Reflect.apply(fork, childProcess, [path, ...rest])
}

function replaceFork(other: typeof fork): void {
  childProcess.fork = other
  syncBuiltinESMExports()
}

/** What else this process starts meanwhile is no trial. */
function isTrial(path: string | URL): boolean {
  return /[/\\]node-llama-cpp[/\\]dist[/\\]/.test(String(path))
}

type Asked = { readonly type: 'start' | 'test' | 'exit' }

/** What a process says in which a build is tried out with success: it is ready, has loaded it, is done. */
function passTrial(): EventEmitter {
  const trial = new EventEmitter()
  const say = (type: string) => setImmediate(() => trial.emit('message', { type }))
  say('ready')
  return Object.assign(trial, {
    exitCode: null,
    killed: false,
    kill: () => true,
    send({ type }: Asked) {
      if (type === 'exit') setImmediate(() => trial.emit('exit', 0))
      else say(type === 'start' ? 'loaded' : 'done')
      return true
    },
  })
}
