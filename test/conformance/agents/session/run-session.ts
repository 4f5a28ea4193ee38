import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startClaude, type ClaudeProcess } from './claude-process.ts'
import { judgeSession, protocolWarnings, type Played } from './judge-session.ts'
import { begun, noteFile, startSessionService, type SessionService } from './session-model.ts'
import { sessionPlan } from './session-plan.ts'

export type SessionOutcome = {
  readonly figures: Readonly<Record<string, string | number>>
  readonly faults: readonly string[]
}

type Playing = {
  readonly service: SessionService
  readonly word: string
  start(resumes: string | null): ClaudeProcess
}

/** Plays the whole session with Claude Code in a folder of its own. */
export async function runSession(modules: string): Promise<SessionOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-session-'))
  const word = `MAGIC-${Math.random().toString(36).slice(2, 10)}`
  writeFileSync(join(folder, noteFile), `${word}\n`)
  const service = await startSessionService(folder)
  const debugFiles: string[] = []
  const start = (resumes: string | null) => {
    const debugFile = join(folder, `debug-${debugFiles.length}.log`)
    debugFiles.push(debugFile)
    const { address, key } = service
    return startClaude({ address, key, modules, folder, debugFile, resumes })
  }
  const startedMs = performance.now()
  try {
    const played = await play({ service, word, start })
    const lines = debugFiles.flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    const rows = await service.db.selectFrom('ledger').select(['outcome']).execute()
    return judgeSession({
      ...played,
      calls: service.calls,
      counts: service.counts,
      faults: [...played.faults, ...service.faults],
      warnings: protocolWarnings(lines),
      debugLines: lines.length,
      outcomes: rows.map(({ outcome }) => outcome),
      seconds: (performance.now() - startedMs) / 1_000,
    })
  } finally {
    service.app.server.closeAllConnections()
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function play({ service, word, start }: Playing): Promise<Played> {
  const faults: string[] = []
  let [turns, processes, number] = [0, 1, 0]
  let claude = start(null)
  for (const step of sessionPlan) {
    if (step.kind === 'turn') number += 1
    service.at({ step, number: step.kind === 'turn' ? number : number + 1, word })
    if (step.kind === 'left') {
      const reached = service.hasSent(begun)
      const end = claude.ask('Say much.')
      end.catch(() => {})
      await reached
      // Long enough for the client to be in the midst of reading.
      await pause(100)
      if (step.how === 'interrupted') {
        claude.interrupt()
        await end
      } else {
        const { sessionId } = claude
        await claude.kill()
        claude = start(sessionId)
        processes += 1
      }
    } else if (step.kind === 'compact') {
      const { isError, text } = await claude.ask('/compact')
      if (isError) faults.push(`/compact: ${text}`)
    } else {
      const prompt = step.kind === 'turn' ? `Turn ${number}: ${step.work}.` : 'Please go on.'
      const { isError, text } = await claude.ask(prompt)
      const isDone = !isError && text.includes(word)
      if (!isDone) faults.push(`${prompt} ended with ${text.slice(0, 300)}`)
      if (isDone && step.kind === 'turn') turns += 1
    }
  }
  const code = await claude.close()
  if (code !== 0) faults.push(`Claude Code ended with ${code}`)
  return { turns, processes, faults }
}
