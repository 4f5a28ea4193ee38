import { z } from 'zod'
import { anyInteger, objectOf } from '../../parse-body.ts'

/** One of the given words. Anything but a string is a fault of type, not of value. */
export function choice<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.string().pipe(z.enum(values))
}

export function integer(min: number = -Infinity, max: number = Infinity) {
  return anyInteger('expected an integer').min(min).max(max)
}

/** Any JSON object, its key order kept. */
export const jsonObject = objectOf(z.unknown(), 'expected an object')
