// npm run conformance:agents              coding agents in scripted turns, where a package registry is at hand
// npm run conformance:agents -- WORD...   only those whose name contains a word; the page is left as it is
//
// Not part of npm test: it installs some 900 MB, into a folder that it removes again.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agents, type Agent } from '../test/conformance/agents/agents.ts'
import { loseInCall, refuse, type AgentFault } from '../test/conformance/agents/copying-model.ts'
import { runAgent, type AgentOutcome } from '../test/conformance/agents/run-agent.ts'
import { writeTable } from '../test/conformance/clients-table.ts'

type Trial = {
  readonly faults?: readonly AgentFault[]
  readonly key?: string
  /** How it went, in a word; null when it went wrong. */
  judge(outcome: AgentOutcome, agent: Agent): string | null
}

function isDone({ code, hasWritten, hasTold }: AgentOutcome): string | null {
  return code === 0 && hasWritten && hasTold ? 'done' : null
}

const failed = 'failed'

const asUsual: AgentFault = () => null

/** How long a user may be left without a word about a key that is wrong. */
const reportedWithinSeconds = 60

const trials: Readonly<Record<string, Trial>> = {
  'three turns with tools': { judge: isDone },
  'a limit that passes': { faults: [refuse({ code: 'rate-limited', retryAfterMs: 1_000 })], judge: isDone },
  'a full service': { faults: [refuse({ code: 'overloaded', retryAfterMs: 1_000 })], judge: isDone },
  'a call that breaks off': { faults: [loseInCall], judge: isDone },
  'a conversation that becomes too long': {
    faults: [asUsual, refuse({ code: 'context-exceeded', inputTokens: 1_200_000, windowTokens: 1_000_000 })],
    // The code it ends with may tell of the error that it overcame.
    judge: ({ hasWritten, hasTold, output }, { shortens }) => {
      if (shortens) return hasWritten && hasTold ? 'shortened, done' : null
      return /1200000.*1000000|1000000.*1200000/.test(output) ? 'reported' : null
    },
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

const modules = mkdtempSync(join(tmpdir(), 'odyssey-agents-'))
process.once('exit', () => rmSync(modules, { recursive: true, force: true }))
process.exitCode = await main(process.argv.slice(2))

async function main(words: readonly string[]): Promise<number> {
  const wanted = agents.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
  install(wanted)
  const rows: string[][] = []
  for (const agent of wanted) {
    rows.push([agent.name, `\`${agent.package}\` ${agent.version}`, ...(await tryAll(agent))])
  }
  if (words.length === 0) writeTable('agents', { header: ['Client', 'Package', ...Object.keys(trials)], rows })
  return rows.every((row) => !row.includes(failed)) ? 0 : 1
}

function install(wanted: readonly Agent[]): void {
  writeFileSync(join(modules, 'package.json'), '{"private":true}')
  const packages = new Set(wanted.map(({ package: name, version }) => `${name}@${version}`))
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...packages]
  const { status, stderr } = spawnSync('npm', args, {
    cwd: modules,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`The agents could not be installed: ${stderr}`)
}

async function tryAll(agent: Agent): Promise<string[]> {
  const words: string[] = []
  for (const [name, trial] of Object.entries(trials)) {
    const outcome = await runAgent(agent, join(modules, 'node_modules'), trial)
    const word = trial.judge(outcome, agent)
    const figures = `${outcome.turns} requests, ${outcome.seconds.toFixed(1)} s`
    console.log(`${word === null ? '✖' : '✔'} ${agent.name}: ${name} (${figures}): ${word ?? `exit ${outcome.code}`}`)
    if (word === null) console.log(outcome.output.slice(-2_000))
    words.push(word ?? failed)
  }
  return words
}
