import { fork, type ChildProcess, type ForkOptions } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../lib/clock.ts'
import { poolSizeVariable } from './child/threads/pool-threads.ts'
import { usableProcessors } from './child/threads/usable-processors.ts'
import { hasLinuxCalls } from '../../lib/system/linux-calls.ts'
import { watchMemory } from './confinement/memory-limit.ts'
import { permissionFlags } from './confinement/permission-flags.ts'
import { reportFile, type ConfinementPlan, type ConfinementReport } from './confinement/plan.ts'
import { findReachablePaths } from './confinement/reachable-paths.ts'
import { hasNvidiaCard } from './nvidia-card.ts'
import { makeScratchFolder } from './confinement/scratch-folders.ts'

/** `auto` confines a child as far as the system lets it; `require` starts none that is not confined. */
export type ConfinementMode = 'auto' | 'off' | 'require'

export type LaunchOptions = {
  readonly weightsPaths: readonly string[]
  /** The one folder that outlives the child; null for a child that keeps nothing. */
  readonly cacheFolder: string | null
  /** Whether the child may use graphics cards, and so must reach them. */
  readonly usesDevices: boolean
  /** Whether one of them is a card by NVIDIA; left out, whatever this machine has. */
  readonly drivesNvidia?: boolean
  /** What the child may know of the service's environment: no secret is in it. */
  readonly environment: Readonly<Record<string, string>>
  readonly confinement: ConfinementMode
  /** Memory of its own that the child may have; beyond it, it is ended. */
  readonly memoryBytesMax: number
  readonly clock: Clock
  /** Called once, when the child's program begins. */
  onConfined(report: ConfinementReport): void
}

export type LaunchedChild = {
  /** Its process id is the child's from the beginning, and messages may be sent at once. */
  readonly process: ChildProcess
  /** Resolves with the reason when the child is gone. */
  readonly ended: Promise<string>
}

/** A process reserves more memory than it uses: stacks of threads, and room that is never filled. */
const askedShare = 2
/** Node and the libraries ask for this much before any weights are loaded, most of which is never used. */
const askedBytesAtStart = 2 * 1024 ** 3

/** A child encrypts with what Node brings, and a configuration that it cannot read would keep it from starting. */
const plainOpenssl: Readonly<Record<string, string>> = process.platform === 'linux' ? { OPENSSL_CONF: '/dev/null' } : {}

/**
 * One thread computes each step, so that it is always the same one.
 *
 * The library starts its other threads anew for each step. Where Node's pool had several, which take turns, Linux began
 * those on the processor of the one that started them, and left them there for tens of milliseconds: two threads decoded 47–110
 * tokens/s on two idle processors, where they decode 190 beside a pool of one.
 */
const threadsOnProcessor = 1
/** Where a card computes the steps, threads choose the tokens of several answers side by side; more than these gained no more. */
const threadsBesideCardMost = 8

/**
 * Starts a child process that can reach its weights, its folders and nothing else of the machine.
 *
 * Throws where the child must be confined and this machine has no way to.
 */
export function launchChild(entry: URL, options: LaunchOptions): LaunchedChild {
  const { confinement, memoryBytesMax, cacheFolder } = options
  const scratchFolder = makeScratchFolder()
  if (cacheFolder !== null) mkdirSync(cacheFolder, { recursive: true, mode: 0o700 })
  const drivesNvidia = options.usesDevices && (options.drivesNvidia ?? hasNvidiaCard())
  const folders = [scratchFolder, ...(cacheFolder === null ? [] : [cacheFolder])]
  const env = {
    ...options.environment,
    TMPDIR: scratchFolder,
    TEMP: scratchFolder,
    TMP: scratchFolder,
    ...plainOpenssl,
    [poolSizeVariable]: String(drivesNvidia ? Math.min(threadsBesideCardMost, usableProcessors()) : threadsOnProcessor),
  }
  const launch: Launch = { ...options, entryPath: fileURLToPath(entry), env }
  if (confinement === 'off') return watch(launchFreely(launch), scratchFolder, options)
  const plan: ConfinementPlan = {
    mode: confinement,
    entryPath: launch.entryPath,
    paths: findReachablePaths({ ...options, entryPath: launch.entryPath, folders, environment: env }),
    drivesNvidia,
    // A driver of a graphics card reserves more than the machine's memory.
    dataBytesMax: options.usesDevices ? null : memoryBytesMax * askedShare + askedBytesAtStart,
  }
  const started = canStage() ? launchInStages(launch, plan) : launchWithNodeAlone(launch, plan)
  return watch(started, scratchFolder, options)
}

type Launch = Pick<LaunchOptions, 'onConfined' | 'memoryBytesMax'> & {
  readonly entryPath: string
  readonly env: Readonly<Record<string, string>>
}

/** A child, and why it was not let begin, which is known when it is gone at the latest. */
type Started = { readonly child: ChildProcess; readonly refused: Promise<string | null> }

const common: ForkOptions = { serialization: 'advanced', execArgv: [], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] }
const notRefused = Promise.resolve(null)

function launchFreely({ entryPath, env, onConfined }: Launch): Started {
  onConfined({ inForce: [], missing: ['all of it (engine.confinement is off)'] })
  return { child: fork(entryPath, { ...common, env }), refused: notRefused }
}

/** Where the system offers nothing that could be used here, Node keeps its own part of the child to its files. */
function launchWithNodeAlone({ entryPath, env, onConfined }: Launch, { mode, paths }: ConfinementPlan): Started {
  const why =
    process.platform === 'linux'
      ? 'this Node cannot make calls to the system'
      : `on ${process.platform} there is no way yet`
  const missing = [`what binds native code (${why})`, 'memory']
  // A Node without the flag lets everything through that it would allow.
  const seesNetwork = process.allowedNodeEnvironmentFlags.has('--allow-net')
  const report = seesNetwork
    ? { inForce: ['file system and network, as far as Node sees to it'], missing }
    : { inForce: ['file system, as far as Node sees to it'], missing: [...missing, 'network'] }
  if (mode === 'require') throw new Error(refusal(report))
  onConfined(report)
  return { child: fork(entryPath, { ...common, execArgv: permissionFlags(paths), env }), refused: notRefused }
}

/** Only a Node that can make calls to the system, and be replaced by another program, can give anything up. */
function canStage(): boolean {
  return hasLinuxCalls() && process.execve !== undefined
}

function launchInStages({ env, onConfined, memoryBytesMax }: Launch, plan: ConfinementPlan): Started {
  const stage = fileURLToPath(new URL('./confinement/stage.cts', import.meta.url))
  const child = fork(stage, [JSON.stringify(plan)], {
    ...common,
    // The calls to the system are made with a part of Node that is still called experimental.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'],
    env,
  })
  const refused = readAll(child.stdio[reportFile] as NodeJS.ReadableStream).then((text) => {
    const report = parseReport(text)
    if (report === null) return null
    onConfined({ ...report, inForce: [...report.inForce, `memory ${(memoryBytesMax / 1e9).toFixed(1)} GB`] })
    return plan.mode === 'require' && report.missing.length > 0 ? refusal(report) : null
  })
  return { child, refused }
}

function refusal({ missing }: ConfinementReport): string {
  return `It cannot be confined as engine.confinement requires; what is missing: ${missing.join(', ')}.`
}

/** Reads the report of a child; one that could not even be started has none. */
async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  try {
    for await (const piece of stream) text += String(piece)
  } catch {
    // The pipe broke.
  }
  return text
}

/** A child that was killed at once has said nothing. */
function parseReport(text: string): ConfinementReport | null {
  try {
    return JSON.parse(text) as ConfinementReport
  } catch {
    return null
  }
}

/** Ends a child that takes too much memory, and removes what any child leaves behind. */
function watch(
  { child, refused }: Started,
  scratchFolder: string,
  { clock, memoryBytesMax: bytesMax }: LaunchOptions,
): LaunchedChild {
  let excess: string | null = null
  const stopWatching = watchMemory(child.pid, {
    bytesMax,
    clock,
    onExceeded(bytes) {
      excess = `it took ${bytes} bytes of memory, and may have ${bytesMax} (engine.memoryBytesMax)`
      child.kill('SIGKILL')
    },
  })
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
    child.once('error', (error) => {
      child.kill('SIGKILL')
      resolve(error.message)
    })
  })
  const ended = exited.then(async (reason) => {
    stopWatching()
    rmSync(scratchFolder, { recursive: true, force: true })
    return excess ?? (await refused) ?? reason
  })
  return { process: child, ended }
}
