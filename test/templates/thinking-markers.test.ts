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

const conversation = (turn: string, prompt: string) =>
  `{%- for m in messages %}{%- if m.role == 'assistant' %}{{- '<by>model\\n' -}}${turn}{{- '<end>' -}}` +
  `{%- else %}{{- '<by>' ~ m.role ~ '\\n' ~ m.content ~ '<end>' -}}{%- endif %}{%- endfor %}` +
  `{%- if add_generation_prompt %}{{- '<by>model\\n${prompt}' -}}{%- endif %}`

const calls = `{%- for c in m.tool_calls or [] %}{{- '<run ' ~ c.function.name ~ '>' ~ c.function.arguments | tojson ~ '</run>' -}}{%- endfor %}`

test('words with which the prompt begins the thinking are its opening marker, where it is shown in the last turn alone', () => {
  const source = conversation(
    `{%- if loop.last and m.reasoning_content %}{{- m.reasoning_content ~ '\\n[ANSWER]\\n' -}}{%- endif %}{{- m.content -}}${calls}`,
    'These are my steps:\\n',
  )
  const { tags, promptOpens } = deriveThinking(renderWith(source))
  assert.deepEqual([tags, promptOpens], [{ open: 'These are my steps:', close: '[ANSWER]' }, true])
})

test('a call that follows from within the thinking is known by its mark', () => {
  const source = conversation(
    `{%- if m.reasoning_content %}{{- '<muse>' ~ m.reasoning_content -}}{%- endif %}` +
      `{%- if m.content %}{{- ('</muse>' if m.reasoning_content else '') ~ m.content -}}{%- endif %}${calls}`,
    '',
  ).replaceAll('<run ', '<run>')
  const { tags } = deriveThinking(renderWith(source))
  assert.deepEqual(tags, { open: '<muse>', close: '</muse>', callOpen: '<run>' })
})
