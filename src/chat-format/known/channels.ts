// Answers as a series of messages, each with a header that names its channel and
// its recipient:
//
//     answer  = message (<|start|>assistant message)*
//     message = header <|message|> body (<|end|> | <|return|> | <|call|>)
//     header  = ( to=functions.NAME)? <|channel|>CHANNEL ( to=functions.NAME)? (<|constrain|>)? json?
//
// A call is known by its recipient, which may stand on either side of the channel.

import { createJsonScanner } from '../tool-format/parsing/scan-json.ts'
import {
  drop,
  pushArguments,
  pushText,
  type OutputSource,
  type Reading,
} from '../tool-format/parsing/tool-call-part.ts'
import type { ToolFormat } from '../tool-format/tool-format.ts'
import { skipSpace } from '../tool-format/parsing/match-literal.ts'

const marks = { start: '<|start|>', channel: '<|channel|>', message: '<|message|>' }
const ends = ['<|end|>', '<|return|>', '<|call|>', marks.start]

export const channelsThinking = { open: '<|channel|>analysis<|message|>', close: '<|end|>' }

export const channelsFormat: ToolFormat = {
  notation: { kind: 'channels' },
  section: { open: '<|channel|>commentary to=functions.', close: '<|call|>' },
  separator: '',
  callsMax: 1,
  history: {
    argumentsAs: 'object',
    takesTextArguments: false,
    ids: { kind: 'any' },
    textBesideCalls: 'own',
    toolMessages: 'several',
  },
  endsTurn: false,
}

/** `rendered` is a conversation with tools. */
export function isChannels(rendered: string): boolean {
  return rendered.includes(marks.start) && rendered.includes('channels: analysis, commentary, final')
}

export function* readChannels(source: OutputSource): Reading {
  while (!(source.hasEnded && source.text === '')) {
    const header = yield* readHeader(source)
    const name = /\bto=(?:functions\.)?([^\s<]+)/u.exec(header)?.[1]
    if (name !== undefined && name !== 'assistant') {
      if (!(yield* readCall(source, name))) return
    } else yield* readBody(source, /<\|channel\|>\s*analysis/u.test(header) ? 'thinking' : 'text')
  }
}

/** Empty where the answer begins without one. */
function* readHeader(source: OutputSource): Reading<string> {
  for (;;) {
    const lead = source.text.slice(skipSpace(source.text, 0))
    const begins = [marks.start, marks.channel, 'to='].map((mark) => lead.startsWith(mark) || mark.startsWith(lead))
    if (!begins.includes(true)) return ''
    const end = source.text.indexOf(marks.message)
    if (end !== -1) {
      const header = source.text.slice(0, end)
      drop(source, end + marks.message.length)
      return header
    }
    if (source.hasEnded) {
      // A header that was broken off has nothing to show.
      source.text = [marks.start, marks.channel, 'to='].some((mark) => lead.startsWith(mark)) ? '' : source.text
      return ''
    }
    yield
  }
}

function* readCall(source: OutputSource, name: string): Reading<boolean> {
  source.push({ kind: 'call-start', name, id: null })
  const scanner = createJsonScanner()
  for (;;) {
    const end = scanner.scan(source.text, 0)
    pushArguments(source, source.text.slice(0, end ?? source.text.length))
    drop(source, end ?? source.text.length)
    if (end !== null) break
    if (source.hasEnded) return false
    yield
  }
  source.push({ kind: 'call-end' })
  yield* readBody(source, null)
  return true
}

/** Passes a body on up to its end mark; without a kind it is dropped. */
function* readBody(source: OutputSource, kind: 'text' | 'thinking' | null): Reading {
  for (;;) {
    const found = ends.map((mark) => source.text.indexOf(mark)).filter((index) => index !== -1)
    const end = found.length > 0 ? Math.min(...found) : source.text.length - (source.hasEnded ? 0 : held(source.text))
    const body = source.text.slice(0, end)
    if (kind === 'text') pushText(source, body)
    else if (kind === 'thinking' && body !== '') source.push({ kind, text: body })
    drop(source, end)
    if (found.length > 0) {
      const mark = ends.find((one) => source.text.startsWith(one)) ?? ''
      if (mark !== marks.start) drop(source, mark.length)
      return
    }
    if (source.hasEnded) return
    yield
  }
}

function held(text: string): number {
  const last = text.lastIndexOf('<')
  return last !== -1 && ends.some((mark) => mark.startsWith(text.slice(last))) ? text.length - last : 0
}
