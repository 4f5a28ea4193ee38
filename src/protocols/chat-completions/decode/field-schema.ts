import { z } from 'zod'

/** One of the given words. Anything but a string is a fault of type, not of value. */
export function choice<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.string().pipe(z.enum(values))
}

/** Integers beyond 2^53 arrive rounded but pass: clients write the largest 64-bit number for "no limit". */
export function integer(min: number = -Infinity, max: number = Infinity) {
  return z
    .number()
    .check(({ value, issues }) => {
      if (Number.isInteger(value)) return
      issues.push({ code: 'invalid_type', expected: 'int', input: value, message: 'expected an integer' })
    })
    .min(min)
    .max(max)
}

/** Any JSON object, its key order kept. */
export const jsonObject = z.record(z.string(), z.unknown())
