import { invalidRequest } from '../core/error.ts'

const lengthMax = 200

/** A name as people gave it, without white space around it. Throws for one that is empty, endless or unprintable. */
export function checkName(name: string): string {
  const trimmed = name.trim()
  // Control characters could write into a terminal that lists names.
  if (trimmed !== '' && trimmed.length <= lengthMax && !/\p{Cc}/u.test(trimmed)) return trimmed
  throw invalidRequest(['name'], 'value', `A name has from 1 to ${lengthMax} printable characters.`)
}
