import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { isMailAddress } from './mail-address.ts'
import { messageOf } from '../lib/message-of.ts'

const domain = z
  .string()
  .regex(/^(?:[\da-z](?:[\da-z-]{0,61}[\da-z])?\.)*[\da-z-]{1,63}$/, 'must be a domain in small letters')

/** The mail server of the operator, by which alerts go out. */
export const mailRelay = z
  .strictObject({
    host: z.string().regex(/^[^\s\p{Cc}]+$/u, 'must be an address or a name, without spaces'),
    /** Null takes what is usual: 587 with STARTTLS, 465 with TLS from the start, 25 without. */
    port: z.int().min(1).max(65_535).nullable().default(null),
    /** Without TLS everybody on the way reads the mail and the password. With it the relay's certificate is checked. */
    tls: z.enum(['starttls', 'implicit', 'none']).default('starttls'),
    /** A file with the certificates of those whom the relay's certificate may come from, besides the public ones. */
    caFile: z.string().min(1).nullable().default(null),
    /** Null sends without signing in. */
    user: z.string().min(1).nullable().default(null),
    /** Where the password is: `env:` and the name of a variable, or `file:` and a path, which counts from the config file's folder. */
    password: z
      .string()
      .regex(/^(?:env:[A-Z_][A-Z0-9_]*|file:.+)$/, 'must be env: and the name of a variable, or file: and a path')
      .nullable()
      .default(null),
    /** Whom mail is from. */
    from: z.string().refine(isMailAddress, 'must be an e-mail address, such as odyssey@example.com'),
    /** The domains that mail may go to; null lets organizations name any address. */
    recipientDomains: z.array(domain).min(1).nullable().default(null),
  })
  .refine(({ user, password }) => (user === null) === (password === null), {
    path: ['password'],
    error: 'must be given where there is a user, and only there',
  })

export type MailRelaySettings = z.output<typeof mailRelay>

/** What the settings only point to. */
export type MailSecrets = { readonly password: string | null; readonly ca: string | null }

type Sources = {
  /** The value of a variable; undefined where it is not set. */
  readonly variable: (name: string) => string | undefined
  readonly folder: string
}

/** Reads what the settings of the relay point to. Throws with words for whoever wrote them. */
export function readMailSecrets({ password, caFile }: MailRelaySettings, { variable, folder }: Sources): MailSecrets {
  return { password: readPassword(), ca: caFile === null ? null : readText('caFile', caFile) }

  function readPassword(): string | null {
    if (password === null) return null
    const [, kind, name = ''] = /^(env|file):(.+)$/.exec(password) ?? []
    const found = kind === 'file' ? readText('password', name).replace(/\r?\n$/, '') : variable(name)
    if (found === undefined) throw new Error(`alerts.mail.password: the variable ${name} is not set.`)
    if (found === '') throw new Error(`alerts.mail.password: ${name} is empty.`)
    return found
  }

  function readText(field: string, path: string): string {
    try {
      return readFileSync(resolve(folder, path), 'utf8')
    } catch (error) {
      throw new Error(`alerts.mail.${field}: ${path} cannot be read: ${messageOf(error)}.`, { cause: error })
    }
  }
}
