import { invalidRequest } from '../core/error.ts'
import { isPrintable } from '../lib/is-printable.ts'

const lengthMax = 254

/** Mail itself decides what an address means; two spellings that differ in capitals are one person here. */
export function checkEmail(email: string): string {
  const normal = normalizeEmail(email)
  if (normal.length <= lengthMax && /^[^\s@]+@[^\s@]+$/.test(normal) && isPrintable(normal)) return normal
  throw invalidRequest(['email'], 'value', 'This is no e-mail address.')
}

export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase()
}
