import { ApiError } from '../../../../src/core/error.ts'
import type { EngineRequest } from '../../../../src/core/generation.ts'
import type { FakeStep } from '../../../../src/engines/fake/fake-engine.ts'
import { startFakeService, type FakeService } from '../../../harness/fake-service.ts'
import type { SessionStep, Work } from './session-plan.ts'
import { recordWire, type WireRecord } from './wire-record.ts'

export const noteFile = 'note.txt'
export const begun = 'This answer has begun'
const summary = 'SUMMARY-OF-ALL-TURNS'

/** The step that the session is at, and what its conversation must hold. */
export type Position = { readonly step: SessionStep; readonly number: number; readonly word: string }

export type SessionService = FakeService &
  WireRecord & {
    /** What was wrong with the requests themselves. */
    readonly faults: readonly string[]
    /** Requests of subagents, and those for summaries. */
    readonly counts: { errands: number; summaries: number }
    at(position: Position): void
  }

/** A service whose model follows a session step by step, and sees to it that no request has forgotten anything. */
export async function startSessionService(folder: string): Promise<SessionService> {
  let position: Position = { step: { kind: 'compact' }, number: 0, word: '' }
  let asked = 0
  const faults: string[] = []
  const counts = { errands: 0, summaries: 0 }
  const script = (request: EngineRequest): readonly FakeStep[] => {
    const texts = textsOf(request)
    const answering = { request, folder, position, asked }
    // What a subagent is asked begins its conversation.
    if (texts.some((text) => /^Errand \d+:/.test(text))) {
      counts.errands += 1
      return answerErrand(answering)
    }
    if (/detailed summary|<summary>/i.test(texts.at(-1) ?? '')) {
      counts.summaries += 1
      return say(`<analysis>All is known.</analysis>\n<summary>\n${summary}\n</summary>`)
    }
    if (!isRemembered(texts, position)) faults.push(`turn ${position.number}: what was said before is missing`)
    asked += 1
    return answerTurn({ ...answering, asked: asked - 1 })
  }
  const service = await startFakeService({ script, features: new Set(['tools', 'json-output']) })
  return {
    ...service,
    ...recordWire(service.app.server),
    faults,
    counts,
    at(next) {
      position = next
      asked = 0
    },
  }
}

type Answering = {
  readonly request: EngineRequest
  readonly folder: string
  readonly position: Position
  /** How many requests this step has made before. */
  readonly asked: number
}

/** Every conversation holds the turn before, or what was made of all of them. */
function isRemembered(texts: readonly string[], { number }: Position): boolean {
  return number < 2 || texts.some((text) => text.includes(`Turn ${number - 1}:`) || text.includes(summary))
}

function answerTurn(answering: Answering): readonly FakeStep[] {
  const { position, asked } = answering
  const { step, number, word } = position
  if (step.kind === 'left') {
    const block = { kind: 'text' } as const
    return [
      { kind: 'block', block, texts: [`${begun}, `, 'and '], isLeftOpen: true },
      { kind: 'wait', ms: 600_000 },
    ]
  }
  if (step.kind === 'too-long' && asked === 0) {
    const reason = { code: 'context-exceeded', inputTokens: 1_200_000, windowTokens: 1_000_000 } as const
    throw new ApiError(reason, 'The prompt is too long.')
  }
  const work = step.kind === 'turn' ? step.work : 'say'
  const ended = say(`Turn ${number} is done: ${word}.`)
  if (work === 'think') return [{ kind: 'block', block: { kind: 'thinking' }, texts: ['Let me ', 'see.'] }, ...ended]
  if (work === 'say' || asked > 0) return ended
  return callTools(toolCalls(work, answering))
}

function answerErrand({ request, folder, position }: Answering): readonly FakeStep[] {
  const hasRead = request.messages.some(({ content }) => content.some(({ kind }) => kind === 'tool-result'))
  return hasRead
    ? say(`The errand found ${position.word}.`)
    : callTools([['Read', { file_path: `${folder}/${noteFile}` }]])
}

type ToolCall = readonly [name: string, input: Readonly<Record<string, unknown>>]

function toolCalls(work: Work, { folder, position: { number, word } }: Answering): readonly ToolCall[] {
  const read: ToolCall = ['Read', { file_path: `${folder}/${noteFile}` }]
  const write: ToolCall = ['Write', { file_path: `${folder}/turn-${number}.txt`, content: `${word}\n` }]
  const shell: ToolCall = ['Bash', { command: `cat ${noteFile}`, description: 'Show the note' }]
  switch (work) {
    case 'read':
      return [read]
    case 'write':
      return [write]
    case 'shell':
      return [shell]
    case 'several':
      return [read, shell, write]
    case 'errand': {
      const prompt = `Errand ${number}: tell me what ${noteFile} holds.`
      return [['Agent', { description: 'An errand', prompt, subagent_type: 'general-purpose' }]]
    }
    default:
      return []
  }
}

let callCount = 0

function callTools(calls: readonly ToolCall[]): readonly FakeStep[] {
  const blocks = calls.map(([name, input]): FakeStep => {
    callCount += 1
    const block = { kind: 'tool-call', id: `session${callCount}`, name } as const
    return { kind: 'block', block, texts: inPieces(JSON.stringify(input)) }
  })
  return [...blocks, { kind: 'end', reason: { kind: 'tool-calls' } }]
}

function say(text: string): readonly FakeStep[] {
  return [
    { kind: 'block', block: { kind: 'text' }, texts: inPieces(text) },
    { kind: 'end', reason: { kind: 'end' } },
  ]
}

function inPieces(text: string): readonly string[] {
  return text.match(/[^]{1,6}/gu) ?? []
}

function textsOf({ messages }: EngineRequest): string[] {
  const users = messages.filter(({ role }) => role === 'user')
  return users.flatMap(({ content }) => content.flatMap((block) => (block.kind === 'text' ? [block.text] : [])))
}
