import { type Example, inSeries, type Skill, type Split } from '../example.ts'
import { phrase, vary } from '../phrase.ts'
import type { Random } from '../random.ts'
import { fields } from './extract-fields.ts'
import { keyPrompts, schemaPrompts, shapePrompts } from './extract-prompts.ts'
import { closings, openings, texts } from './extract-texts.ts'
import { drawValues, type Value } from './extract-values.ts'

/** What is wanted: the kind of value, and the value or, for a list, the values. */
type Wanted = { readonly kind: string; readonly values: readonly Value[]; readonly list: boolean }

export const extract: Skill = {
  name: 'extract',
  weight: 12,
  goal: 0.95,
  make(random, split) {
    const { text, wanted } = drawText(random, split)
    return random.chance(0.5) ? withSchema(random, split, text, wanted) : withoutSchema(random, split, text, wanted)
  },
  drill(random) {
    const without = () => {
      const { text, wanted } = drawText(random, 'train')
      return withoutSchema(random, 'train', text, wanted)
    }
    return inSeries(Array.from({ length: random.integer(2, 4) }, without))
  },
}

function drawText(random: Random, split: Split) {
  // The slots are filled with their own names first, to see which values this phrasing needs.
  const names = Object.fromEntries([...Object.keys(fields), 'person2', 'product2'].map((slot) => [slot, `{${slot}}`]))
  const phrasing = phrase(random, split, texts, names)
  const slots = [...phrasing.matchAll(/\{(\w+)\}/g)].map(([, slot = '']) => slot)
  const values = drawValues(random, split, slots)
  let text = phrasing.replace(/\{(\w+)\}/g, (_, slot: string) => values.get(slot)?.text ?? '')
  if (random.chance(0.15)) text = `${vary(random, openings)} ${text}`
  if (random.chance(0.2)) text = `${/[.?!]$/.test(text) ? text : `${text}.`} ${vary(random, closings)}`
  const wanted = random.sample(wantable(slots, values), random.integer(1, 4))
  return { text, wanted }
}

/** Two people in one text can only be asked for together: which of them is `name` nobody could tell. */
function wantable(slots: readonly string[], values: ReadonlyMap<string, Value>): Wanted[] {
  const of = (...kinds: string[]) => kinds.flatMap((kind) => values.get(kind) ?? [])
  const found: Wanted[] = []
  for (const kind of slots) {
    if (kind === 'person2' || kind === 'product2') continue
    if (kind === 'person' && slots.includes('person2'))
      found.push({ kind: 'people', values: of('person', 'person2'), list: true })
    else if (kind === 'product' && slots.includes('product2'))
      found.push({ kind: 'goods', values: of('product', 'product2'), list: true })
    else found.push({ kind, values: of(kind), list: false })
  }
  return found
}

function withSchema(random: Random, split: Split, text: string, wanted: readonly Wanted[]): Example {
  const properties: Record<string, unknown> = {}
  const answer: Record<string, unknown> = {}
  const asked: string[] = []
  for (const field of wanted) {
    const key = random.pick(fieldOf(field).keys)
    const number = field.list ? undefined : fieldOf(field).number
    const asNumber = number !== undefined && random.chance(number === 'integer' ? 0.85 : 0.6)
    properties[key] = field.list ? { type: 'array', items: { type: 'string' } } : { type: asNumber ? number : 'string' }
    answer[key] = valueOf(field, asNumber)
    asked.push(random.chance(0.5) ? key : random.pick(fieldOf(field).spoken))
  }
  const schema = { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
  // People name what they want in their own order; the schema has another.
  const content = phrase(random, split, schemaPrompts, { fields: listing(random, random.shuffle(asked)), text })
  return { schema, ...answered(content, answer) }
}

function withoutSchema(random: Random, split: Split, text: string, wanted: readonly Wanted[]): Example {
  const answer: Record<string, unknown> = {}
  const asked: string[] = []
  const keys: string[] = []
  const shape: Record<string, unknown> = {}
  const snake = random.chance(0.25)
  for (const field of wanted) {
    const spoken = random.pick(fieldOf(field).spoken)
    const key = snake ? spoken.replaceAll(' ', '_') : random.pick(fieldOf(field).keys)
    // Without a schema, nobody has said what an amount is to be: as written, unless the prompt asks for a number.
    const type = field.list ? undefined : fieldOf(field).number
    const asNumber = type === 'integer' || (type === 'number' && random.chance(0.4))
    const typed = type !== undefined && (type === 'integer' ? random.chance(0.2) : asNumber)
    asked.push(
      (snake ? spoken : key) +
        (typed
          ? random.pick([' (number)', ' as a number', ' (a number)'])
          : field.list && random.chance(0.5)
            ? ' (list)'
            : ''),
    )
    keys.push(key)
    shape[key] = field.list ? ['…'] : asNumber ? 0 : '…'
    answer[key] = valueOf(field, asNumber)
  }
  if (!snake && random.chance(0.2)) {
    const dots = random.pick(['…', '...', ''])
    const written = JSON.stringify(shape).replaceAll('"…"', `"${dots}"`)
    const spaced = random.chance(0.6) ? written.replaceAll('":', '": ').replaceAll(',"', ', "') : written
    return answered(phrase(random, split, shapePrompts, { shape: spaced, text }), answer)
  }
  return answered(phrase(random, split, keyPrompts, { keys: listing(random, asked), text }), answer)
}

function answered(content: string, answer: Readonly<Record<string, unknown>>) {
  const found = Object.entries(answer).map(([key, value]) => `${key} is ${stated(value)}`)
  const thinking = `${found.join('; ')}.`
  return {
    turns: [
      { role: 'user', content },
      { role: 'assistant', content: JSON.stringify(answer), thinking },
    ],
    judge: { kind: 'json', value: answer },
  } as const
}

/** A value with its quotes, if it has any: whether a number is wanted as one is half of the question. */
function stated(value: unknown): string {
  return Array.isArray(value) ? value.map(stated).join(' and ') : JSON.stringify(value)
}

function fieldOf(wanted: Wanted) {
  const field = fields[wanted.kind]
  if (field === undefined) throw new Error(`No field is known for ${wanted.kind}.`)
  return field
}

function valueOf(wanted: Wanted, asNumber: boolean): unknown {
  const texts = wanted.values.map((value) => value.text)
  if (wanted.list) return texts
  return asNumber ? wanted.values[0]?.number : texts[0]
}

/** `name, email and date`, in the ways people list things. */
function listing(random: Random, names: readonly string[]): string {
  const mark = random.weighted<readonly [string, string]>([
    [['', ''], 6],
    [['the ', ''], 3],
    [['"', '"'], 2],
    [['`', '`'], 1],
    [["'", "'"], 0.5],
  ])
  const marked = names.map((name) => {
    const [bare = name, note = ''] = name.split(/(?= \(| as )/)
    return mark[0] + bare + mark[1] + note
  })
  const last = marked.at(-1) ?? ''
  if (marked.length === 1) return last
  return random.weighted([
    [`${marked.slice(0, -1).join(', ')} and ${last}`, 5],
    [marked.join(', '), 4],
    [marked.join(' and '), 1],
    [`${marked.slice(0, -1).join(', ')}, and ${last}`, 1],
  ])
}
