import { limitFields, type Field, type Fields, type LimitValues, type ValuesOf } from '../../core/limit-fields.ts'
import { parseMicros } from '../billing/money-text.ts'
import { UsageError } from '../usage-error.ts'

type OptionsOf<All extends Fields> = {
  readonly [Name in keyof All as All[Name]['option']]: {
    readonly type: All[Name]['type'] extends 'switch' ? 'boolean' : 'string'
  }
}

/** An option for each field that can be set. */
export function fieldOptions<All extends Fields>(fields: All): OptionsOf<All> {
  const entries = Object.values(fields).map(({ option, type }) => {
    return [option, { type: type === 'switch' ? 'boolean' : 'string' }]
  })
  return Object.fromEntries(entries) as OptionsOf<All>
}

/**
 * The values of those options that were given.
 *
 * Whether a number is one that can be set is decided where it is set, as for
 * the management API.
 */
export function readFieldValues<All extends Fields>(
  fields: All,
  values: Readonly<Record<string, string | boolean | undefined>>,
): Partial<ValuesOf<All>> {
  const entries = Object.entries(fields).flatMap(([name, field]) => {
    const given = values[field.option]
    return given === undefined ? [] : [[name, typeof given === 'string' ? parseValue(field, given) : given]]
  })
  return Object.fromEntries(entries) as Partial<ValuesOf<All>>
}

/** The values of a limit in the cells of a table, in the order of the fields. */
export function limitCells(values: LimitValues): string[] {
  return Object.keys(limitFields).map((name) => {
    const value = values[name as keyof LimitValues]
    if (typeof value === 'boolean') return value ? 'yes' : 'no'
    return value === null ? '-' : String(value)
  })
}

function parseValue(field: Field, given: string): number | number[] {
  if (field.type === 'list') return given.split(',').map((each) => parseNumber(field, each))

  if (field.type === 'number' && field.unit === 'micros') return parseMicros(given, `--${field.option}`)
  return parseNumber(field, given)
}

function parseNumber(field: Field, given: string): number {
  if (!/^\d{1,16}$/.test(given)) throw new UsageError(`--${field.option} takes a whole number, as 400000.`)
  return Number(given)
}

/** The options as a text for the help, in lines that begin at the column of its explanations. */
export function describeOptions(fields: Fields): string {
  const options = Object.values(fields).map((field) => [`--${field.option}`, ...exampleOf(field)].join(' '))
  const lines: string[] = []
  for (const option of options) {
    const last = lines.at(-1)
    if (last === undefined || last.length + option.length > lineLengthMax) lines.push(option)
    else lines[lines.length - 1] = `${last}, ${option}`
  }
  return lines.map((line) => ' '.repeat(helpColumn) + line).join(',\n')
}

const helpColumn = 39
const lineLengthMax = 70

function exampleOf(field: Field): string[] {
  if (field.type === 'switch') return []
  if (field.type === 'list') return ['50,80,100']
  return [field.unit === 'micros' ? '50.00' : 'N']
}
