import type { Tool } from '../../core/generation.ts'
import { readBareKeys } from '../known/bare-keys.ts'
import { readChannels } from '../known/channels.ts'
import { readPythonic } from '../known/pythonic.ts'
import { readMarkedAnswer } from './parsing/read-answer.ts'
import { createStrayFilter } from './parsing/stray-closings.ts'
import type { OutputSource, Reading, ToolCallPart } from './parsing/tool-call-part.ts'
import type { ToolFormat } from './tool-format.ts'
import { triggers } from './tool-grammar.ts'

export interface ToolCallParser {
  feed(text: string): ToolCallPart[]
  /** A call that the output broke off in has no `call-end`. */
  end(): ToolCallPart[]
}

/**
 * Reads a model's answer as it arrives, without its thinking.
 *
 * Text that could still become a marker is held back, and so is white space
 * before it. A marker without a call is text after all, except a closing one
 * that stands by itself before the text or behind it.
 */
export function createToolCallParser(format: ToolFormat, tools: readonly Tool[] | null): ToolCallParser {
  let parts: ToolCallPart[] = []
  const source: OutputSource = { text: '', hasEnded: false, push: (part) => parts.push(part) }
  const reading = readAnswer(source, format, tools)
  const strays = createStrayFilter(format, triggers(format))
  const advance = () => {
    reading.next()
    const found = parts
    parts = []
    return found.flatMap((part) => strays.feed(part))
  }
  return {
    feed(text) {
      source.text += text
      return advance()
    },
    end() {
      source.hasEnded = true
      return [...advance(), ...strays.end()]
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
