// What can be set of a limit and of a budget, declared once: the columns, the schemas, the options of the command
// line and the tables of the documentation follow from it.

/** What of a limit is counted. */
export type LimitKind = 'requests' | 'input-tokens' | 'output-tokens' | 'concurrency'

type Fact = {
  readonly column: string
  /** The option of the command line. */
  readonly option: string
  /** What it says, for the documentation of the interface and of the command line. */
  readonly about: string
}

/** A whole number. Null, which does not limit, is possible where nothing else stands for a value that is not given. */
type NumberFact = Fact & {
  readonly type: 'number'
  readonly min: number
  readonly max: number
  readonly absent: number | null
  /** At least one number that limits has to be given: what limits nothing would look as if it did. */
  readonly limits: boolean
  readonly counts?: LimitKind
  /** People give and read it in whole units of the currency. */
  readonly unit?: 'micros'
}

type SwitchFact = Fact & { readonly type: 'switch'; readonly absent: boolean }

/** Whole numbers, in order and each of them once; as a column, with commas between them. */
type ListFact = Fact & {
  readonly type: 'list'
  readonly min: number
  readonly max: number
  readonly most: number
  readonly absent: readonly number[]
}

export type Field = NumberFact | SwitchFact | ListFact
export type Fields = Readonly<Record<string, Field>>

/** A field with the head of its column where the command line lists limits. */
export type ListedField = Field & { readonly heading: string }

/** Above this, the parts in which a bucket counts would no longer be exact in a number. */
export const perMinuteMax = 100_000_000_000

const perMinute = { type: 'number', min: 1, max: perMinuteMax, absent: null, limits: true } as const
const most = { type: 'number', min: 0, max: Number.MAX_SAFE_INTEGER, absent: null, limits: true } as const

export const limitFields = {
  inputTokensPerMinute: {
    ...perMinute,
    column: 'input_tokens_per_minute',
    option: 'input-tokens',
    heading: 'input/min',
    counts: 'input-tokens',
    about: 'Tokens of prompts in a minute; those read from the prompt cache count in part.',
  },
  outputTokensPerMinute: {
    ...perMinute,
    column: 'output_tokens_per_minute',
    option: 'output-tokens',
    heading: 'output/min',
    counts: 'output-tokens',
    about: 'Tokens of answers in a minute.',
  },
  requestsPerMinute: {
    ...perMinute,
    column: 'requests_per_minute',
    option: 'requests',
    heading: 'requests/min',
    counts: 'requests',
    about: 'Requests in a minute.',
  },
  isRequestsEnforced: {
    type: 'switch',
    absent: false,
    column: 'is_requests_enforced',
    option: 'requests-enforced',
    heading: 'enforced',
    about: 'Whether too many requests are refused; they are counted and shown in any case.',
  },
  concurrency: {
    ...perMinute,
    column: 'concurrency',
    option: 'concurrency',
    heading: 'at a time',
    counts: 'concurrency',
    about:
      'Requests under way at a time, waiting ones included. Those that were under way already when it is set are not counted.',
  },
  cachedReadPercent: {
    type: 'number',
    min: 0,
    max: 100,
    absent: 10,
    limits: false,
    column: 'cached_read_percent',
    option: 'cached-percent',
    heading: 'cached %',
    about: 'What a token read from the prompt cache counts of an input token, in percent.',
  },
} as const satisfies Readonly<Record<string, ListedField>>

export const budgetFields = {
  microsMax: {
    ...most,
    column: 'micros_max',
    unit: 'micros',
    option: 'amount',
    about: 'Money, in millionths of a unit of the currency.',
  },
  tokensMax: {
    ...most,
    column: 'tokens_max',
    option: 'tokens',
    about: 'Tokens of prompts and answers together, cached or not.',
  },
  alertPercents: {
    type: 'list',
    min: 1,
    max: 100,
    most: 10,
    absent: [],
    column: 'alert_percents',
    option: 'alert-percent',
    about: 'The shares of either, in percent, at each of which an alert is recorded.',
  },
} as const satisfies Fields

type ValueOf<One extends Field> = One extends SwitchFact
  ? boolean
  : One extends ListFact
    ? readonly number[]
    : number | (null extends One['absent'] ? null : never)
type ColumnOf<One extends Field> = One extends SwitchFact ? number : One extends ListFact ? string | null : ValueOf<One>

/** What is set, by the fields' names; null is no limit. */
export type ValuesOf<All extends Fields> = { readonly [Name in keyof All]: ValueOf<All[Name]> }
/** The same as a row holds it: a switch is 0 or 1, a list a text. */
export type ColumnsOf<All extends Fields> = { [Name in keyof All as All[Name]['column']]: ColumnOf<All[Name]> }

export type LimitValues = ValuesOf<typeof limitFields>
export type BudgetValues = ValuesOf<typeof budgetFields>
