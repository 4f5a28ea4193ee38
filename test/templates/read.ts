import { createToolCallParser } from '../../src/chat-format/tool-format/parse-tool-calls.ts'
import type { ToolCallPart } from '../../src/chat-format/tool-format/parsing/tool-call-part.ts'
import type { ToolFormat } from '../../src/chat-format/tool-format/tool-format.ts'
import { tools, type Turn } from './conversations.ts'

export type Read = Turn & {
  readonly thinking: string
  readonly openCalls: number
  readonly ids: readonly (string | null)[]
}

/** Parses an output that arrives in pieces. */
export function readPieces(format: ToolFormat, pieces: readonly string[]): Read {
  const parser = createToolCallParser(format, tools)
  return collect([...pieces.flatMap((piece) => parser.feed(piece)), ...parser.end()])
}

function collect(parts: readonly ToolCallPart[]): Read {
  let text = ''
  let thinking = ''
  let openCalls = 0
  const calls: { name: string; json: string }[] = []
  const ids: (string | null)[] = []
  for (const part of parts) {
    if (part.kind === 'text') text += part.text
    if (part.kind === 'thinking') thinking += part.text
    if (part.kind === 'call-start') {
      calls.push({ name: part.name, json: '' })
      ids.push(part.id)
      openCalls++
    }
    if (part.kind === 'arguments') calls.at(-1)!.json += part.text
    if (part.kind === 'call-end') openCalls--
  }
  const read = calls.map(({ name, json }, index) => {
    const isOpen = openCalls > 0 && index === calls.length - 1
    return { name, arguments: isOpen ? {} : (JSON.parse(json) as Record<string, unknown>) }
  })
  return { text, thinking, calls: read, openCalls, ids }
}
