import { ApiError, type ApiErrorReason } from '../../../src/core/error.ts'
import type { EngineRequest, Tool } from '../../../src/core/generation.ts'
import type { FakeStep } from '../../../src/engines/fake/fake-engine.ts'
import { startFakeService, type FakeDoor, type FakeService } from '../../harness/fake-service.ts'

export const source = 'note.txt'
export const target = 'copy.txt'
export const prompt = `Read ${source}, write the word that it holds into ${target}, and tell me the word.`

/** What becomes of one request of the agent's own loop, which would get the usual answer. */
export type AgentFault = (request: EngineRequest, usual: () => readonly FakeStep[]) => readonly FakeStep[]

export type CopyingService = FakeService & {
  /** Requests of the agent's own loop, as opposed to those for titles and the like. */
  readonly turns: readonly EngineRequest[]
  /** What becomes of the next ones; more may be added. */
  readonly faults: AgentFault[]
}

/**
 * A service whose model reads a file, writes what it read into another and tells it: three turns, each
 * of which depends on what the agent made of the one before.
 */
export async function startCopyingService(
  folder: string,
  faults: readonly AgentFault[],
  door: FakeDoor = {},
): Promise<CopyingService> {
  const turns: EngineRequest[] = []
  const coming = [...faults]
  let hasSummed = false
  const script = (request: EngineRequest) => {
    const read = findTool(request, readers)
    // What follows a summary speaks of it as well, so only the first is one.
    const isSummary: boolean = !hasSummed && isForSummary(request)
    hasSummed ||= isSummary
    if (read === undefined || isSummary) return beside(request)
    turns.push(request)
    const usual = () => copy(request, folder, read)
    return coming.shift()?.(request, usual) ?? usual()
  }
  const service = await startFakeService({ script, features: new Set(['tools', 'json-output']) }, {}, door)
  return { ...service, turns, faults: coming }
}

export function refuse(reason: ApiErrorReason): AgentFault {
  return () => {
    throw new ApiError(reason, 'The request is refused.')
  }
}

/** The prompt takes so long that nothing comes for a while. */
export function slow(ms: number): AgentFault {
  return (_request, usual) => [{ kind: 'wait', ms }, ...usual()]
}

/** The engine is lost while it writes the arguments of a call. */
export const loseInCall: AgentFault = (request) => {
  const { name = 'read' } = findTool(request, readers) ?? {}
  const block = { kind: 'tool-call', id: 'cut', name } as const
  const error = new ApiError({ code: 'engine-failed' }, 'The engine was lost.')
  return [
    { kind: 'block', block, texts: ['{"', 'file'], isLeftOpen: true },
    { kind: 'fail', error },
  ]
}

/** What agents call the tools that read a file and write one. */
const readers = /^(read|read_files?)$/i
const writers = /^(write|write_file|editor)$/i

let callCount = 0

function copy(request: EngineRequest, folder: string, read: Tool): readonly FakeStep[] {
  const results = request.messages.flatMap(({ content }) => content.filter((block) => block.kind === 'tool-result'))
  const text = results
    .flatMap(({ content }) => content.map((part) => (part.kind === 'text' ? part.text : '')))
    .join('\n')
  const word = /MAGIC-\w+/.exec(text)?.[0]
  if (word === undefined) return call(read, { path: `${folder}/${source}` })
  const write = findTool(request, writers)
  const hasWritten = request.messages.some(({ content }) =>
    content.some((block) => block.kind === 'tool-call' && block.name === write?.name),
  )
  if (write !== undefined && !hasWritten) return call(write, { path: `${folder}/${target}`, content: word })
  return say(`The word is ${word}.`)
}

/** Names the arguments as the agent's own tool does: they all have a path, each under another name. */
function call({ name, parameters }: Tool, { path, content }: { readonly path: string; readonly content?: string }) {
  const keys = Object.keys((parameters['properties'] ?? {}) as Record<string, unknown>)
  const pathKey = keys.find((key) => /path/i.test(key)) ?? 'path'
  const contentKey = keys.find((key) => /^(content|new_text)$/.test(key)) ?? 'content'
  const one = { [pathKey]: path, ...(content !== undefined && { [contentKey]: content }) }
  const input = keys.includes('files') ? { files: [one] } : one
  callCount += 1
  const block = { kind: 'tool-call', id: `scripted${callCount}`, name } as const
  const steps: FakeStep[] = [
    { kind: 'block', block, texts: JSON.stringify(input).match(/[^]{1,4}/gu) ?? [] },
    { kind: 'end', reason: { kind: 'tool-calls' } },
  ]
  return steps
}

/** Agents ask for titles and summaries too, some of them as JSON. */
function beside({ output }: EngineRequest): readonly FakeStep[] {
  return say(output.kind === 'json' ? JSON.stringify({ title: 'Copying a word' }) : `The user said: ${prompt}`)
}

/** What an agent asks for when its conversation has become too long, in words of its own. */
function isForSummary({ messages }: EngineRequest): boolean {
  const last = messages.findLast(({ role }) => role === 'user')
  const texts = last?.content.flatMap((block) => (block.kind === 'text' ? [block.text] : [])) ?? []
  const text = texts.at(-1) ?? ''
  // Cline cuts its conversation without asking for a summary, and says so in a notice.
  return /summar|compact|compress/i.test(text) && !text.includes('<SYSTEM_NOTICE>')
}

function say(text: string): FakeStep[] {
  return [
    { kind: 'block', block: { kind: 'text' }, texts: text.match(/[^]{1,4}/gu) ?? [] },
    { kind: 'end', reason: { kind: 'end' } },
  ]
}

function findTool({ tools }: EngineRequest, name: RegExp): Tool | undefined {
  return tools.find((tool) => name.test(tool.name))
}
