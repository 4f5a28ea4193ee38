import type { WireFormat } from '../../lib/wire.ts'

/** What is set less often; an empty text leaves it to the model. */
export type MoreSettings = {
  readonly topP: string
  readonly topK: string
  /** One to a line. */
  readonly stops: string
  readonly seed: string
  readonly presence: string
  readonly frequency: string
  readonly choice: 'auto' | 'any' | 'none'
  readonly cache: 'none' | '5m' | '1h'
}

type NumberRule = {
  readonly field: 'topP' | 'topK' | 'seed' | 'presence' | 'frequency'
  readonly name: string
  readonly least: number
  readonly most: number
  readonly isWhole: boolean
  /** As each format calls it; null where it has no such field. */
  readonly as: Readonly<Record<WireFormat, string | null>>
}

export const numberRules: readonly NumberRule[] = [
  {
    field: 'topP',
    name: 'Top P',
    least: 0,
    most: 1,
    isWhole: false,
    as: { messages: 'top_p', 'chat-completions': 'top_p' },
  },
  {
    field: 'topK',
    name: 'Top K',
    least: 0,
    most: 1_000_000,
    isWhole: true,
    as: { messages: 'top_k', 'chat-completions': null },
  },
  {
    field: 'seed',
    name: 'Seed',
    least: 0,
    most: 2 ** 31,
    isWhole: true,
    as: { messages: null, 'chat-completions': 'seed' },
  },
  {
    field: 'presence',
    name: 'Presence penalty',
    least: -2,
    most: 2,
    isWhole: false,
    as: { messages: null, 'chat-completions': 'presence_penalty' },
  },
  {
    field: 'frequency',
    name: 'Frequency penalty',
    least: -2,
    most: 2,
    isWhole: false,
    as: { messages: null, 'chat-completions': 'frequency_penalty' },
  },
]

/** Says which of them is no number that can be sent. */
export function faultOfMore(more: MoreSettings): string | null {
  const wrong = numberRules.find(({ field, least, most, isWhole }) => {
    const number = Number(more[field])
    return more[field] !== '' && !(number >= least && number <= most && (!isWhole || Number.isInteger(number)))
  })
  if (wrong === undefined) return null
  return `${wrong.name} is ${wrong.isWhole ? 'a whole number' : 'a number'} from ${wrong.least} to ${wrong.most}, or empty.`
}

/** What is set and the format cannot say: it is left out. */
export function unsaidIn(format: WireFormat, more: MoreSettings): readonly string[] {
  const numbers = numberRules.filter(({ field, as }) => more[field] !== '' && as[format] === null)
  const isCacheLost = format === 'chat-completions' && more.cache !== 'none'
  return [...numbers.map(({ name }) => name), ...(isCacheLost ? ['The cache mark'] : [])]
}

/** The same as fields of a request; a choice of tools only where there are tools. */
export function moreFields(
  format: WireFormat,
  more: MoreSettings,
  hasTools: boolean,
): Readonly<Record<string, unknown>> {
  const numbers = numberRules.flatMap(({ field, as }) => {
    const name = as[format]
    return more[field] === '' || name === null ? [] : [[name, Number(more[field])] as const]
  })
  const stops = more.stops.split('\n').filter((line) => line !== '')
  return {
    ...Object.fromEntries(numbers),
    ...(stops.length > 0 && { [format === 'messages' ? 'stop_sequences' : 'stop']: stops }),
    ...(hasTools && more.choice !== 'auto' && { tool_choice: toolChoice(format, more.choice) }),
    ...(format === 'messages' && more.cache !== 'none' && { cache_control: { type: 'ephemeral', ttl: more.cache } }),
  }
}

function toolChoice(format: WireFormat, choice: 'any' | 'none'): unknown {
  if (format === 'messages') return { type: choice }
  return choice === 'any' ? 'required' : 'none'
}
