// npm run conformance:agents              coding agents in scripted turns, where a package registry is at hand
// npm run conformance:agents -- WORD...   only those whose name contains a word; the page is left as it is
// npm run conformance:agents -- --modules FOLDER   with the node_modules of packages that are installed already
//
// Not part of npm test: it installs some 1.5 GB, into a folder that it removes again.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { agents, type Agent } from '../test/conformance/agents/agents.ts'
import { loseInCall, refuse, slow, type AgentFault } from '../test/conformance/agents/copying-model.ts'
import { runAgent, type AgentOutcome } from '../test/conformance/agents/run-agent.ts'
import { runSession } from '../test/conformance/agents/session/run-session.ts'
import { writeTable, type Table } from '../test/conformance/clients-table.ts'

type Trial = {
  /** Mostly waits, so all agents are tried at once. */
  readonly isSlow?: boolean
  readonly faults?: readonly AgentFault[]
  readonly key?: string
  /** How it went, in a word; null when it went wrong. */
  judge(outcome: AgentOutcome, agent: Agent): string | null
}

function isDone({ code, hasWritten, hasTold }: AgentOutcome): string | null {
  return code === 0 && hasWritten && hasTold ? 'done' : null
}

/** The agent's answer after a fault that passes, or its words about the fault where it asks only once. */
function isDoneOrReported(outcome: AgentOutcome, { asksAgain }: Agent): string | null {
  const { code, output, hasWritten } = outcome
  const isReported = code !== 0 && !hasWritten && /refused|error/i.test(output)
  return isDone(outcome) ?? (!asksAgain && isReported ? 'reported' : null)
}

const failed = 'failed'

const asUsual: AgentFault = (_request, usual) => usual()

/** How long a user may be left without a word about a key that is wrong. */
const reportedWithinSeconds = 60

const slowSeconds = 60

const trials: Readonly<Record<string, Trial>> = {
  'three turns with tools': { judge: isDone },
  'a limit that passes': { faults: [refuse({ code: 'rate-limited', retryAfterMs: 1_000 })], judge: isDoneOrReported },
  'a full service': { faults: [refuse({ code: 'overloaded', retryAfterMs: 1_000 })], judge: isDoneOrReported },
  'a call that breaks off': { faults: [loseInCall], judge: isDoneOrReported },
  'a conversation that becomes too long': {
    faults: [asUsual, refuse({ code: 'context-exceeded', inputTokens: 1_200_000, windowTokens: 1_000_000 })],
    // The code it ends with may tell of the error that it overcame.
    judge: ({ hasWritten, hasTold, output }, { shortens }) => {
      if (shortens) return hasWritten && hasTold ? 'shortened, done' : null
      return /1200000.*1000000|1000000.*1200000/.test(output) ? 'reported' : null
    },
  },
  'a first token after a minute': {
    faults: [slow(slowSeconds * 1_000)],
    isSlow: true,
    // A request more than usual would be one that was tried again.
    judge: (outcome) => (outcome.seconds >= slowSeconds && outcome.turns === 3 ? isDone(outcome) : null),
  },
  'a wrong key': {
    key: 'sk-wrong-0123456789',
    judge: ({ seconds, hasWritten, output }) =>
      seconds < reportedWithinSeconds &&
      !hasWritten &&
      /401|Incorrect API key|Invalid bearer token|invalid x-api-key/i.test(output)
        ? 'reported'
        : null,
  },
}

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  const { positionals: words, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { modules: { type: 'string' } },
  })
  const wanted = agents.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
  const modules = values.modules ?? install(wanted)
  const rows = await tryAll(wanted, modules)
  const session = wanted.some(({ name }) => name === 'Claude Code') ? await trySession(modules) : null
  if (words.length === 0) {
    writeTable('agents', { header: ['Client', 'Package', ...Object.keys(trials)], rows })
    if (session !== null) writeTable('session', session.table)
  }
  return rows.every((row) => !row.includes(failed)) && session?.isDone !== false ? 0 : 1
}

/** Returns the folder of the packages, which is removed at the end. */
function install(wanted: readonly Agent[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-agents-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const packages = new Set(wanted.map(({ package: name, version }) => `${name}@${version}`))
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...packages]
  const { status, stderr } = spawnSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`The agents could not be installed: ${stderr}`)
  return join(folder, 'node_modules')
}

/** A row of words for each agent, one for each trial. */
async function tryAll(wanted: readonly Agent[], modules: string): Promise<string[][]> {
  const columns: (readonly string[])[] = []
  for (const [name, trial] of Object.entries(trials)) {
    if (trial.isSlow === true) {
      columns.push(await Promise.all(wanted.map((agent) => tryOne(agent, name, { trial, modules }))))
      continue
    }
    const words: string[] = []
    for (const agent of wanted) words.push(await tryOne(agent, name, { trial, modules }))
    columns.push(words)
  }
  return wanted.map(({ name, package: own, version }, row) => [
    name,
    `\`${own}\` ${version}`,
    ...columns.map((words) => words[row] ?? failed),
  ])
}

type Trying = { readonly trial: Trial; readonly modules: string }

async function tryOne(agent: Agent, name: string, { trial, modules }: Trying): Promise<string> {
  const outcome = await runAgent(agent, modules, trial)
  const word = trial.judge(outcome, agent)
  const figures = `${outcome.turns} requests, ${outcome.seconds.toFixed(1)} s`
  console.log(`${word === null ? '✖' : '✔'} ${agent.name}: ${name} (${figures}): ${word ?? `exit ${outcome.code}`}`)
  if (word === null) console.log(outcome.output.slice(-2_000))
  return word ?? failed
}

async function trySession(modules: string): Promise<{ readonly table: Table; readonly isDone: boolean }> {
  const { figures, faults } = await runSession(modules)
  const told = Object.entries(figures).map(([label, value]) => `${label} ${value}`)
  console.log(`${faults.length === 0 ? '✔' : '✖'} Claude Code: a long session (${told.join(', ')})`)
  for (const fault of faults) console.log(`  ${fault}`)
  const version = agents.find(({ name }) => name === 'Claude Code')?.version ?? ''
  // How long it took says more of the machine than of the service.
  const { seconds: _, ...lasting } = figures
  const cells = Object.values(lasting).map(String)
  const row = ['Claude Code', version, faults.length === 0 ? 'done' : failed, ...cells]
  return {
    table: { header: ['Client', 'Version', 'The session', ...Object.keys(lasting)], rows: [row] },
    isDone: faults.length === 0,
  }
}
