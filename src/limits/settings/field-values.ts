import { invalidRequest } from '../../core/error.ts'
import type { ColumnsOf, Field, Fields, ValuesOf } from '../../core/limit-fields.ts'

type Value = number | boolean | readonly number[] | null

/** All values, with what stands for those that are not given. Throws for one that cannot be counted, and for none that limits. */
export function completeValues<All extends Fields>(fields: All, given: Partial<ValuesOf<All>>): ValuesOf<All> {
  const entries = Object.entries(fields).map(([name, field]) => {
    return [name, checkValue(name, field, given[name] ?? field.absent)] as const
  })
  const limiting = entries.filter(([name]) => isLimiting(fields[name]))
  if (limiting.every(([, value]) => value === null)) {
    throw invalidRequest(null, null, `Give at least one of ${limiting.map(([name]) => name).join(', ')}.`)
  }
  return Object.fromEntries(entries) as ValuesOf<All>
}

function isLimiting(field: Field | undefined): boolean {
  return field?.type === 'number' && field.limits
}

function checkValue(name: string, field: Field, value: Value): Value {
  if (field.type === 'switch' || value === null) return value
  const numbers = [value].flat().map(Number)
  const { min, max } = field
  if (!numbers.every((number) => Number.isSafeInteger(number) && number >= min && number <= max)) {
    throw invalidRequest([name], 'value', `${name} must be a whole number from ${min} to ${max}.`)
  }
  if (field.type === 'number') return value
  const inOrder = [...new Set(numbers)].toSorted((one, other) => one - other)
  if (inOrder.length <= field.most) return inOrder
  throw invalidRequest([name], 'value', `${name} has ${field.most} numbers at most.`)
}

export function toColumns<All extends Fields>(fields: All, values: ValuesOf<All>): ColumnsOf<All> {
  const entries = Object.entries(fields).map(([name, { column, type }]) => {
    const value: Value | undefined = values[name]
    if (type === 'list') return [column, Array.isArray(value) && value.length > 0 ? value.join(',') : null]
    return [column, type === 'switch' ? Number(value) : value]
  })
  return Object.fromEntries(entries) as ColumnsOf<All>
}

export function fromColumns<All extends Fields>(fields: All, row: ColumnsOf<All>): ValuesOf<All> {
  const columns: Readonly<Record<string, number | string | null>> = row
  const entries = Object.entries(fields).map(([name, { column, type }]) => {
    const value = columns[column]
    if (type === 'list') return [name, typeof value === 'string' ? value.split(',').map(Number) : []]
    return [name, type === 'switch' ? value === 1 : value]
  })
  return Object.fromEntries(entries) as ValuesOf<All>
}
