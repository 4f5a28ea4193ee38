import type { Mailing } from '../../../accounts/sign-in/note-mailing.ts'
import type { MailRules } from '../../../alerts/channel-target.ts'
import { MailError, whyNoRecipient, type Mailer } from '../../../alerts/mail.ts'
import { ApiError, conflict } from '../../../core/error.ts'
import { randomId } from '../../../lib/random-id.ts'

/** A relay that could not be reached may be there again then. */
const retryAfterMs = 60_000
/** The mailer itself waits for no longer than a relay may take. */
const never = new AbortController().signal

type Relay = { readonly mailer: Mailer; readonly rules: MailRules | null }
type Sent = { readonly mailing: Mailing; readonly siteUrl: string; readonly link: string; readonly atMs: number }

/** Mails somebody the link that they are invited by. Throws with the relay's word where it does not take the message. */
export async function mailInvitation({ mailer, rules }: Relay, { mailing, siteUrl, link, atMs }: Sent): Promise<void> {
  const { email: to, organizationName } = mailing
  const refusal = rules === null ? null : whyNoRecipient(rules, to)
  if (refusal !== null) throw conflict(`${refusal} Hand the link on yourself.`)
  const subject = `[Odyssey] You are invited to ${organizationName}`
  const message = { id: `inv-${randomId()}`, to, subject, text: writeInvitation({ mailing, siteUrl, link }), atMs }
  try {
    await mailer.send(message, never)
  } catch (error) {
    if (!(error instanceof MailError)) throw error
    const words = `${error.message} The link works all the same: hand it on yourself.`
    if (error.isFinal) throw conflict(words, { cause: error })
    throw new ApiError({ code: 'overloaded', retryAfterMs }, words, { cause: error })
  }
}

function writeInvitation({ mailing, siteUrl, link }: Omit<Sent, 'atMs'>): string {
  const { organizationName, inviterName, role, endsAtMs } = mailing
  const ends = new Date(endsAtMs).toISOString().slice(0, 16).replace('T', ' ')
  return [
    `${inviterName ?? 'The operator'} invites you to "${organizationName}" at ${siteUrl}, as ${role}.`,
    '',
    `This link lets you in. It works once, until ${ends} UTC:`,
    '',
    `  ${link}`,
    '',
    'Whoever has the link can use it, so give it to nobody. If you do not know what this is about, there is nothing to do:',
    'nothing happens unless the link is opened.',
    '',
  ].join('\n')
}
