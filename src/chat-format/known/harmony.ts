// Harmony, the notation of gpt-oss: an answer is a series of messages, each with a
// header that names its channel and its recipient:
//
//     answer  = message (<|start|>assistant message)*
//     message = header <|message|> body (<|end|> | <|return|> | <|call|>)
//     header  = ( to=functions.NAME)? <|channel|>CHANNEL ( to=functions.NAME)? (<|constrain|>)? json?
//
// A call is known by its recipient, which may stand on either side of the channel.

import { literal, sequence, type GrammarBuilder, type GrammarTool } from '../tool-format/grammar-parts.ts'
import { readJsonArguments } from '../tool-format/parsing/scan-json.ts'
import { drop, pushText, type OutputSource, type Reading } from '../tool-format/parsing/tool-call-part.ts'
import { skipSpace } from '../tool-format/parsing/match-literal.ts'
import { plainFrame, type RenderProbe, type TemplateToolMessage, type ToolFormat } from '../tool-format/tool-format.ts'
import type { KnownNotation } from './known-notation.ts'

const marks = { start: '<|start|>', channel: '<|channel|>', message: '<|message|>' }
const ends = ['<|end|>', '<|return|>', '<|call|>', marks.start]

const call = { open: `${marks.channel}commentary to=functions.`, close: '<|call|>' }

const format: ToolFormat = {
  notation: { kind: 'harmony' },
  section: call,
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
  ...plainFrame,
}

export const harmony: KnownNotation = {
  usual: format,
  detect,
  read,
  writeTurn,
  grammar: { trigger: () => call.open, section: () => ({ open: '', close: '' }), call: callBody },
}

export const harmonyThinking = { open: `${marks.channel}analysis${marks.message}`, close: '<|end|>' }

function detect(_: RenderProbe, prompt: string): ToolFormat | null {
  return isHarmony(prompt) ? format : null
}

export function isHarmony(rendered: string): boolean {
  return rendered.includes(marks.start) && rendered.includes('channels: analysis, commentary, final')
}

function* read(source: OutputSource): Reading {
  while (!(source.hasEnded && source.text === '')) {
    const header = yield* readHeader(source)
    const name = /\bto=(?:functions\.)?([^\s<]+)/u.exec(header)?.[1]
    if (name !== undefined && name !== 'assistant') {
      if (!(yield* readCall(source, name))) return
    } else yield* readBody(source, /<\|channel\|>\s*analysis/u.test(header) ? 'thinking' : 'text')
  }
}

/** What a header begins with. Early templates name no channel in front of a plain answer. */
const beginnings = [marks.start, marks.channel, 'to=', marks.message]

/** Empty where the answer begins without one. */
function* readHeader(source: OutputSource): Reading<string> {
  for (;;) {
    const lead = source.text.slice(skipSpace(source.text, 0))
    if (!beginnings.some((mark) => lead.startsWith(mark) || mark.startsWith(lead))) return ''
    const end = source.text.indexOf(marks.message)
    if (end !== -1) {
      const header = source.text.slice(0, end)
      drop(source, end + marks.message.length)
      return header
    }
    if (source.hasEnded) {
      // A header that was broken off has nothing to show.
      source.text = beginnings.some((mark) => lead.startsWith(mark)) ? '' : source.text
      return ''
    }
    yield
  }
}

function* readCall(source: OutputSource, name: string): Reading<boolean> {
  source.push({ kind: 'call-start', name, id: null })
  if (!(yield* readJsonArguments(source))) return false
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

/** The template shows the text of a turn with calls as thinking, so the thinking takes its place. */
function writeTurn({ reasoning_content: thinking = '', ...turn }: TemplateToolMessage): TemplateToolMessage {
  return { ...turn, content: thinking }
}

function callBody(_: GrammarBuilder, { tool, argumentsRule }: GrammarTool): string {
  const head = `${call.open}${tool.name} <|constrain|>json${marks.message}`
  return sequence(literal(head), argumentsRule, literal(call.close))
}
