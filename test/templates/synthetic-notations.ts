import type { Random } from '../campaigns/random.ts'

/** Notations beyond the main ones; each has its way to write a call, and its section. */
export const notationFamilies = [
  'typed-tags',
  'elements',
  'guarded',
  'numbered',
  'bare-keys',
  'listed',
  'recipients',
  'json-list',
  'results-as-user',
  'no-tools',
] as const

export type NotationFamily = (typeof notationFamilies)[number]

export type SyntheticNotation = { readonly family: NotationFamily; readonly source: string }

const brackets = [
  ['<', '>'],
  ['[', ']'],
  ['<|', '|>'],
  ['<｜', '｜>'],
  ['«', '»'],
] as const

type Parts = {
  readonly random: Random
  readonly word: () => string
  readonly mark: () => string
  readonly gap: () => string
}

type Body = { readonly call: string; readonly open: string; readonly close: string; readonly separator: string }

/** Templates in the rarer notations, with markers that no model uses. */
export function synthesizeNotation(random: Random): SyntheticNotation {
  const [left, right] = random.pick(brackets)
  const word = () =>
    Array.from({ length: random.integer(3, 8) }, () => random.pick([...'abcdefghijklmnopqrstuvwxyz_'])).join('')
  const parts: Parts = {
    random,
    word,
    mark: () => `${left}${word()}${right}`,
    gap: () => random.pick(['', '\\n', ' ']),
  }
  const family = random.pick(notationFamilies)
  return { family, source: write(family, parts) }
}

const say = (text: string) => `{{- '${text}' -}}`

function write(family: NotationFamily, parts: Parts): string {
  const { random, mark, word } = parts
  const end = mark()
  const roles = { user: mark(), assistant: mark(), tool: mark(), system: mark() }
  const gap = random.pick(['', '\\n'])
  const header = (role: keyof typeof roles) => say(roles[role] + gap)
  const recipient = { mark: `${random.pick(['>>>', '@@', '=>'])}`, all: word() }
  const hasTools = family !== 'no-tools' && family !== 'results-as-user'
  const plain =
    family === 'recipients'
      ? `{%- if m.content %}{{- '${recipient.mark}${recipient.all}\\n' ~ m.content -}}{%- endif %}`
      : '{{- m.content -}}'
  const body = family === 'recipients' ? recipientBody(recipient.mark) : bodyOf(family, parts)
  const calls = [
    `{%- if m.tool_calls %}${say(body.open)}`,
    `{%- for c in m.tool_calls %}${body.call}{%- if not loop.last %}${say(body.separator)}{%- endif %}{%- endfor %}`,
    `${say(body.close)}{%- endif %}`,
  ].join('')
  const alternates = family === 'results-as-user' || family === 'no-tools'
  const refusal = `{%- if m.role not in ['user', 'assistant'] %}{{- raise_exception('Only user and assistant') -}}{%- endif %}`
  return [
    hasTools ? `{%- for tool in tools or [] %}${say(mark())}{{- tool | tojson -}}{%- endfor %}` : '',
    '{%- for m in messages %}',
    alternates ? refusal : '',
    `{%- if m.role == 'assistant' %}${header('assistant')}${plain}${hasTools || family === 'results-as-user' ? calls : ''}${say(end)}`,
    `{%- elif m.role == 'tool' %}${header('tool')}{{- m.content -}}${say(end)}`,
    `{%- elif m.role == 'system' %}${header('system')}{{- m.content -}}${say(end)}`,
    `{%- else %}${header('user')}{{- m.content -}}${say(end)}{%- endif %}`,
    '{%- endfor %}',
    `{%- if add_generation_prompt %}${header('assistant')}${family === 'recipients' ? say(recipient.mark) : ''}{%- endif %}`,
  ].join('')
}

function recipientBody(mark: string): Body {
  const given = '{{- c.function.arguments if c.function.arguments is string else c.function.arguments | tojson -}}'
  return { call: `{{- '${mark}' ~ c.function.name ~ '\\n' -}}${given}`, open: '', close: '', separator: '' }
}

function bodyOf(family: Exclude<NotationFamily, 'recipients'>, parts: Parts): Body {
  switch (family) {
    case 'typed-tags':
      return typedTags(parts)
    case 'elements':
      return elements(parts)
    case 'guarded':
      return guarded(parts)
    case 'numbered':
      return numbered(parts)
    case 'bare-keys':
      return bareKeys(parts)
    case 'listed':
      return listed(parts)
    case 'json-list':
    case 'results-as-user':
    case 'no-tools':
      return jsonList(parts)
  }
}

const items = (inner: string) => `{%- for k, v in c.function.arguments | items %}${inner}{%- endfor %}`

/** The type of a value stands beside its name. */
function typedTags({ random, word, mark, gap }: Parts): Body {
  const tag = word()
  const attribute = word()
  const [line, section] = [gap(), random.chance(0.5) ? mark() : '']
  const [text, other] = random.pick([
    ['string', 'json'],
    ['true', 'false'],
  ] as const)
  const open = `<${tag} name="`
  const type = `{{- '${text}' if v is string else '${other}' -}}`
  const value = '{{- v if v is string else v | tojson -}}'
  const member = `{{- '${open}' ~ k ~ '" ${attribute}="' -}}${type}${say('">')}${value}${say(`</${tag}>${line}`)}`
  const name = word()
  const call = `{{- '<${name} name="' ~ c.function.name ~ '">${line}' -}}${items(member)}${say(`</${name}>`)}`
  return {
    call,
    open: section === '' ? '' : section + gap(),
    close: section === '' ? '' : gap() + mark(),
    separator: line,
  }
}

/** Tags are named as the arguments are, and lists and objects are further elements. */
function elements({ random, word, mark, gap }: Parts): Body {
  const item = random.pick(['item', 'entry', 'li'])
  const lead = random.pick(['', `${word()}:`])
  const name = word()
  const line = gap()
  const macro = [
    '{%- macro show(v) %}{%- if v is mapping %}',
    `{%- for k, w in v.items() %}{{- '<${lead}' ~ k ~ '>' -}}{{- show(w) -}}{{- '</${lead}' ~ k ~ '>' -}}{%- endfor %}`,
    '{%- elif v is iterable and v is not string %}',
    `{%- for w in v %}{{- '<${lead}${item}>' -}}{{- show(w) -}}{{- '</${lead}${item}>' -}}{%- endfor %}`,
    '{%- elif v is boolean or v is none %}{{- v | tojson -}}{%- else %}{{- v -}}{%- endif %}{%- endmacro %}',
  ].join('')
  const member = `{{- '<${lead}' ~ k ~ '>' -}}{{- show(v) -}}{{- '</${lead}' ~ k ~ '>' -}}`
  const call = `${macro}{{- '<${lead}${name} name="' ~ c.function.name ~ '">' -}}${items(member)}${say(`</${lead}${name}>`)}`
  const section = random.chance(0.5)
  return { call, open: section ? mark() + line : '', close: section ? line + mark() : '', separator: line }
}

/** Texts with characters of the markup stand in a section of their own. */
function guarded({ word, gap }: Parts): Body {
  const [tag, name, line] = [word(), word(), gap()]
  const isHostile = `v is string and ('<' in v or '&' in v or '\\n' in v)`
  const value = `{%- if ${isHostile} %}{{- '<![CDATA[' ~ v ~ ']]>' -}}{%- else %}{{- v if v is string else v | tojson -}}{%- endif %}`
  const member = `{{- '<${tag} name="' ~ k ~ '">' -}}${value}${say(`</${tag}>`)}`
  const call = `{{- '<${name} name="' ~ c.function.name ~ '">${line}' -}}${items(member)}${say(`</${name}>`)}`
  return { call, open: '', close: '', separator: line === '' ? '\\n' : line }
}

/** Calls are counted beside their names. */
function numbered({ random, word, mark, gap }: Parts): Body {
  const [tag, name, attribute, line] = [word(), word(), word(), gap()]
  const count = random.pick(['loop.index', 'loop.index0'])
  const value = '{{- v if v is string else v | tojson -}}'
  const member = `{{- '<${tag} name="' ~ k ~ '">' -}}${value}${say(`</${tag}>${line}`)}`
  const head = `{%- set number = ${count} -%}{{- '<${name} name="' ~ c.function.name ~ '" ${attribute}="' ~ number ~ '">${line}' -}}`
  const section = random.chance(0.5)
  return {
    call: `${head}${items(member)}${say(`</${name}>`)}`,
    open: section ? mark() : '',
    close: section ? mark() : '',
    separator: line,
  }
}

/** Keys without quotes, sorted, and texts between marks of their own. */
function bareKeys({ mark, word }: Parts): Body {
  const [open, close, quote, lead] = [`<${word()}>${word()}:`, `</${word()}>`, mark(), word()]
  const macro = [
    `{%- macro ${lead}(v) %}{%- if v is string %}{{- '${quote}' ~ v ~ '${quote}' -}}`,
    `{%- elif v is mapping %}{{- '{' -}}{%- for k, w in v | dictsort %}{{- (',' if not loop.first else '') ~ k ~ ':' -}}{{- ${lead}(w) -}}{%- endfor %}{{- '}' -}}`,
    `{%- elif v is boolean or v is none %}{{- v | tojson -}}`,
    `{%- elif v is iterable %}{{- '[' -}}{%- for w in v %}{{- ',' if not loop.first else '' -}}{{- ${lead}(w) -}}{%- endfor %}{{- ']' -}}`,
    '{%- else %}{{- v -}}{%- endif %}{%- endmacro %}',
  ].join('')
  const call = `${macro}{{- '${open}' ~ c.function.name -}}{{- ${lead}(c.function.arguments) -}}{{- '${close}' -}}`
  return { call, open: '', close: '', separator: '' }
}

/** Calls as in a program, in a list or each in a line of its own. */
function listed({ random, mark }: Parts): Body {
  const quote = random.pick(["'", '"'])
  const spelled = quote === '"' ? `'"' ~ v ~ '"'` : `"'" ~ v ~ "'"`
  const member = `{{- k ~ '=' ~ (${spelled} if v is string else v | tojson) -}}{%- if not loop.last %}{{- ', ' -}}{%- endif %}`
  const call = `{{- c.function.name ~ '(' -}}${items(member)}{{- ')' -}}`
  const isList = random.chance(0.6)
  return isList
    ? { call, open: `${mark()}[`, close: `]${mark()}`, separator: ', ' }
    : { call, open: `${mark()}\\n`, close: `\\n${mark()}`, separator: '\\n' }
}

/** One list of JSON objects with ids. */
function jsonList({ random, word, mark, gap }: Parts): Body {
  const [name, given, id] = [`${word()}n`, `${word()}a`, `${word()}i`]
  const line = random.pick(['', '\\n', '\\n    '])
  const number = random.pick(['{{- c.id | tojson -}}', `{{- '"' ~ loop.index0 ~ '"' -}}`])
  const call = [
    say(`${line}{"${id}": `),
    number,
    `{{- ', "${name}": "' ~ c.function.name ~ '", "${given}": ' -}}{{- c.function.arguments | tojson -}}`,
    say('}'),
  ].join('')
  return { call, open: `${mark()}${gap()}[`, close: `${line.trim() === '' ? gap() : ''}]${mark()}`, separator: ', ' }
}
