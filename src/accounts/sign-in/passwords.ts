// Passwords are kept as argon2id hashes in PHC strings, with the parameters that OWASP names first.

import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { invalidRequest } from '../../core/error.ts'

const deriveKey = promisify(argon2)

type Cost = { readonly memory: number; readonly passes: number; readonly parallelism: number }

/** 19 MiB and two passes take 24 ms of a core of this decade. */
const cost: Cost = { memory: 19_456, passes: 2, parallelism: 1 }
const tagLength = 32
const charactersMin = 12
const charactersMax = 1_000
/** Guesses that arrive together would otherwise take 19 MiB and a thread each. */
const atOnceMax = 4

/** Throws for a password that is easy to guess, or endless. */
export function checkPassword(password: string): string {
  const { length } = [...password]
  if (length >= charactersMin && length <= charactersMax) return password
  const message = `A password has from ${charactersMin} to ${charactersMax} characters.`
  throw invalidRequest(['password'], 'value', message)
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const [saltText, tagText] = [salt, await derive(password, salt, cost)].map(toBase64)
  return `${head}${saltText}$${tagText}`
}

/** The beginning of every hash that is made now. */
const head = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$`
/** A password for an account that is nobody's is checked against this, in the same time. */
const nobodysHash = `${head}${'A'.repeat(22)}$${'A'.repeat(43)}`

/** Whether this is the password; null stands for an account that has none, which takes as long. */
export async function isPassword(phc: string | null, password: string): Promise<boolean> {
  const [, , , parameters = '', salt = '', tag = ''] = (phc ?? nobodysHash).split('$')
  const expected = Buffer.from(tag, 'base64')
  const found = await derive(password, Buffer.from(salt, 'base64'), readCost(parameters))
  return phc !== null && expected.length === found.length && timingSafeEqual(expected, found)
}

/** Whether a hash was made with parameters of earlier times. */
export function isOutdated(phc: string): boolean {
  return !phc.startsWith(head)
}

function readCost(text: string): Cost {
  const values = Object.fromEntries(text.split(',').map((part) => part.split('=') as [string, string]))
  return { memory: Number(values['m']), passes: Number(values['t']), parallelism: Number(values['p']) }
}

/** PHC strings have no padding. */
function toBase64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}

let running = 0
const waiting: (() => void)[] = []

async function derive(password: string, nonce: Buffer, { memory, passes, parallelism }: Cost): Promise<Buffer> {
  if (running >= atOnceMax) await new Promise<void>((resolve) => waiting.push(resolve))
  else running += 1
  try {
    // The same text may be typed as different code points on another machine.
    const message = Buffer.from(password.normalize('NFC'))
    return await deriveKey('argon2id', { message, nonce, memory, passes, parallelism, tagLength })
  } finally {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }
}
