import type { Random } from '../campaigns/random.ts'

export type Synthetic = { readonly family: 'envelope' | 'marked' | 'tagged'; readonly source: string }

const brackets = [
  ['<', '>'],
  ['[', ']'],
  ['<|', '|>'],
  ['«', '»'],
  ['@@', '@@'],
  ['<｜', '｜>'],
  ['#', '!'],
] as const

/** Templates in the main notations with markers that no model uses. */
export function synthesize(random: Random): Synthetic {
  const [left, right] = random.pick(brackets)
  const word = () =>
    Array.from({ length: random.integer(2, 8) }, () => random.pick([...'abcdefghijklmnopqrstuvwxyz_'])).join('')
  const mark = () => `${left}${word()}${right}`
  const gap = () => random.pick(['', '', '\\n', ' ', '\\n\\n'])
  const say = (text: string) => `{{ '${text}' }}`
  const end = mark()
  const hasSection = random.chance(0.5)
  const section = hasSection ? { open: gap() + mark() + gap(), close: gap() + mark() } : { open: gap(), close: '' }
  const separator = random.pick(['', '\\n', ', ', ';', ` ${mark()} `])
  const family = random.pick(['envelope', 'marked', 'tagged'] as const)
  const call = { envelope: envelopeCall, marked: markedCall, tagged: taggedCall }[family]({
    random,
    mark,
    gap,
    say,
    word,
  })
  const role = () => `${left}{{ message.role }}${right}${gap() === '' ? '' : "{{ '\\n' }}"}`
  const source = [
    `{%- for tool in tools or [] %}${say(mark())}{{ tool | tojson }}{% endfor %}`,
    '{%- for message in messages %}',
    `{%- if message.role == 'tool' %}${say(mark())}{{ message.content }}${say(end)}`,
    `{%- else %}${role()}{{ message.content }}`,
    `{%- if message.tool_calls %}${say(section.open)}`,
    `{%- for call in message.tool_calls %}${call}{%- if not loop.last %}${say(separator)}{% endif %}{%- endfor %}`,
    `${say(section.close)}{%- endif %}${say(end)}`,
    '{%- endif %}{%- endfor %}',
    `{%- if add_generation_prompt %}${left}assistant${right}{% endif %}`,
  ].join('\n{#- -#}\n')
  return { family, source }
}

type Parts = {
  readonly random: Random
  readonly mark: () => string
  readonly gap: () => string
  readonly say: (text: string) => string
  readonly word: () => string
}

function envelopeCall({ random, mark, gap, say, word }: Parts): string {
  const members = [
    `"${word()}n": {{ call.function.name | tojson }}`,
    `"${word()}a": {{ call.function.arguments | tojson }}`,
    ...(random.chance(0.5) ? [`"${word()}i": {{ call.id | tojson }}`] : []),
  ]
  if (random.chance(0.4)) members.reverse()
  return `${say(mark() + gap() + '{')}${members.join(', ')}${say('}' + gap() + mark())}`
}

function markedCall({ random, mark, gap, say }: Parts): string {
  const given = random.pick(['{{ call.function.arguments | tojson }}', '{{ call.function.arguments }}'])
  const id = random.chance(0.4) ? `${say(mark())}{{ call.id }}` : ''
  return `${say(mark() + gap())}{{ call.function.name }}${id}${say(mark() + gap())}${given}${say(gap() + mark())}`
}

function taggedCall({ random, mark, gap, say, word }: Parts): string {
  const value = '{{ value if value is string else value | tojson }}'
  const [before, after] = random.pick([
    ['', ''],
    ['\\n', '\\n'],
  ] as const)
  const key = random.pick([`${say(`<${word()}=`)}{{ key }}${say('>')}`, `${say(mark())}{{ key }}${say(mark())}`])
  const between = random.pick(['', '\\n'])
  const items = `{%- for key, value in call.function.arguments | items %}${say(between)}${key}${say(before)}${value}${say(after + mark())}{%- endfor %}`
  return `${say(mark() + gap())}{{ call.function.name }}${say(random.pick(['>', '', ' :', mark()]))}${items}${say('\\n' + mark())}`
}
