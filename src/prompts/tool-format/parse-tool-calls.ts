import type { Tool } from '../../core/generation.ts'
import { readBareKeys } from './exceptions/bare-keys.ts'
import { readChannels } from './exceptions/channels.ts'
import { readPythonic } from './exceptions/pythonic.ts'
import { readMarkedAnswer } from './parsing/read-answer.ts'
import type { OutputSource, Reading, ToolCallPart } from './parsing/tool-call-part.ts'
import type { ToolFormat } from './tool-format.ts'

export interface ToolCallParser {
  feed(text: string): ToolCallPart[]
  /** A call that the output broke off in has no `call-end`. */
  end(): ToolCallPart[]
}

/**
 * Reads a model's answer as it arrives, without its thinking.
 *
 * Text that could still become a marker is held back, and so is white space
 * before it. A marker that no call follows is text after all.
 */
export function createToolCallParser(format: ToolFormat, tools: readonly Tool[] | null): ToolCallParser {
  let parts: ToolCallPart[] = []
  const source: OutputSource = { text: '', hasEnded: false, push: (part) => parts.push(part) }
  const reading = readAnswer(source, format, tools)
  const advance = () => {
    reading.next()
    const found = parts
    parts = []
    return found
  }
  return {
    feed(text) {
      source.text += text
      return advance()
    },
    end() {
      source.hasEnded = true
      return advance()
    },
  }
}

function readAnswer(source: OutputSource, format: ToolFormat, tools: readonly Tool[] | null): Reading {
  switch (format.notation.kind) {
    case 'pythonic':
      return readPythonic(source)
    case 'bare-keys':
      return readBareKeys(source)
    case 'channels':
      return readChannels(source)
    default:
      return readMarkedAnswer(source, { ...format, notation: format.notation }, tools)
  }
}
