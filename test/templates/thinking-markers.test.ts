import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deriveThinking } from '../../src/chat-format/probe-template.ts'
import { createRandom, type Random } from '../campaigns/random.ts'
import { renderWith } from './render.ts'

const templateCount = 400

test('the markers of thinking are whole, however much they share at their edges with what stands beside them', () => {
  for (let number = 0; number < templateCount; number++) {
    const { source, open, close } = synthesize(createRandom(21, number))
    const { tags } = deriveThinking(renderWith(source))
    assert.deepEqual(tags, { open, close }, `${number}: ${source}`)
  }
})

const brackets = [
  ['<', '>'],
  ['[', ']'],
  ['<|', '|>'],
  ['«', '»'],
  ['<｜', '｜>'],
  ['【', '】'],
  ['◁', '▷'],
] as const

type Markers = {
  readonly open: string
  readonly close: string
  readonly header: string
  readonly blank: string
  readonly end: string
}

/** A template with markers that begin and end with the same one to five characters. */
function synthesize(random: Random) {
  const [left, right] = random.pick(brackets)
  const letters = (length: number) =>
    Array.from({ length }, () => random.pick([...'abcdefghijklmnopqrstuvwxyz_'])).join('')
  const shared = () => letters(random.integer(0, 5 - left.length))
  const [start, stop] = [left + shared(), shared() + right]
  const middle = letters(random.integer(2, 6))
  const open = `${start}x${middle}a${stop}`
  const close = random.chance(0.5) ? `${left}/${open.slice(left.length)}` : `${start}y${middle}b${stop}`
  const header = `${left}assistant${right}${random.pick(['', '\\n'])}`
  const markers = { open, close, header, blank: random.pick(['', '\\n']), end: `${left}end${right}` }
  const shape = random.pick(['replayed', 'closed-without', 'prompt-only'] as const)
  return { source: write(shape, markers), open, close }
}

/** `replayed` shows thinking where there is some; `closed-without` closes it in every turn; `prompt-only` shows none. */
function write(shape: 'replayed' | 'closed-without' | 'prompt-only', { open, close, header, blank, end }: Markers) {
  const shown = `${open}${blank}' ~ message.reasoning_content ~ '${blank}${close}${blank}`
  const thought = {
    replayed: `{%- if message.reasoning_content %}{{- '${shown}' }}{%- endif %}`,
    'closed-without': `{%- if message.reasoning_content %}{{- '${shown}' }}{%- else %}{{- '${close}' }}{%- endif %}`,
    'prompt-only': '',
  }[shape]
  const call = `{%- for call in message.tool_calls or [] %}{{- '<call>' ~ call.function.name ~ '</call>' }}{%- endfor %}`
  return [
    '{%- for message in messages %}',
    `{%- if message.role == 'assistant' %}{{- '${header}' }}${thought}{{- message.content }}${call}{{- '${end}' }}`,
    `{%- else %}{{- '${header.replace('assistant', 'user')}' ~ message.content ~ '${end}' }}{%- endif %}{%- endfor %}`,
    `{%- if add_generation_prompt %}{{- '${header}' }}`,
    `{%- if enable_thinking %}{{- '${open}' }}{%- else %}{{- '${close}' }}{%- endif %}{%- endif %}`,
  ].join('')
}

test('a template that opens thinking in every prompt, and never shows how it ends, closes it with the mark’s counterpart', () => {
  const pairs = { '<think>': '</think>', '[THINK]': '[/THINK]', '<|thought|>': '<|/thought|>', '◁think▷': '◁/think▷' }
  for (const [open, close] of Object.entries(pairs)) {
    const source = `{%- for message in messages %}{{- '<' ~ message.role ~ '>' ~ message.content ~ '<end>' }}{%- endfor %}
      {%- if add_generation_prompt %}{{- '<assistant>${open}\\n' }}{%- endif %}`
    const { tags, promptOpens, isReplayed } = deriveThinking(renderWith(source))
    assert.deepEqual({ tags, promptOpens, isReplayed }, { tags: { open, close }, promptOpens: true, isReplayed: false })
  }
})
