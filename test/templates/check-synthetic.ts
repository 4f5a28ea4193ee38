import assert from 'node:assert/strict'
import { deriveToolFormat } from '../../src/chat-format/tool-format/derive-tool-format.ts'
import { toTemplateCalls } from '../../src/chat-format/tool-format/to-template-calls.ts'
import type { TemplateToolMessage, ToolFormat } from '../../src/chat-format/tool-format/tool-format.ts'
import { declarations, turns, writeTurn, type Turn } from './conversations.ts'
import { readPieces } from './read.ts'
import { renderWith } from './render.ts'

const user: TemplateToolMessage = { role: 'user', content: 'Please help.' }
const options = { tools: declarations, addGenerationPrompt: false, enableThinking: null }

/**
 * Derives the format of a made-up template, and reads every turn back that is rendered in it, whole and
 * in pieces. Gives the format; null where the template was refused.
 */
export function checkSynthetic(source: string): ToolFormat | null {
  const render = renderWith(source)
  const format = deriveToolFormat(render)
  if (format === null) return null
  const prompt = render([user], { ...options, addGenerationPrompt: true })
  const text = 'Xqwzplain'
  const plain = render([user, { role: 'assistant', content: text }], options)
  const after = plain.slice(plain.indexOf(text) + text.length)
  for (const turn of turns.filter((one) => canCarry(format, one))) {
    const rendered = render([user, ...toTemplateCalls(format, [writeTurn(turn, null)])], options)
    const start = rendered.startsWith(prompt) ? prompt.length : plain.indexOf(text)
    const output = rendered.slice(start, rendered.length - after.length)
    const cut = Math.ceil(output.length / 2)
    for (const pieces of [[output], [output.slice(0, cut), output.slice(cut)], output.split('')]) {
      const read = readPieces(format, pieces)
      const wanted = { text: turn.text, calls: turn.calls }
      assert.deepEqual({ text: read.text.trim(), calls: read.calls }, wanted, `${source}\n${output}`)
      assert.equal(read.openCalls, 0, source)
    }
  }
  return format
}

function canCarry({ callsMax, history }: ToolFormat, { text, calls }: Turn): boolean {
  if (callsMax === 1 && calls.length > 1) return false
  return text === '' || calls.length === 0 || history.textBesideCalls === 'before'
}
