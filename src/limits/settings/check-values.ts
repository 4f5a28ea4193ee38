import { invalidRequest } from '../../core/error.ts'

/** Refuses a setting that is no whole number in its range; null leaves it out. */
export function requireWhole(name: string, value: number | null, [min, max]: readonly [number, number]): void {
  if (value === null || (Number.isSafeInteger(value) && value >= min && value <= max)) return
  throw invalidRequest([name], 'value', `${name} must be a whole number from ${min} to ${max}.`)
}

/** A setting that limits nothing would look as if it did. */
export function requireAny(names: readonly string[], values: readonly (number | null)[]): void {
  if (values.some((value) => value !== null)) return
  throw invalidRequest(null, null, `Give at least one of ${names.join(', ')}.`)
}
