import type { NodemailerError, Transporter } from 'nodemailer'
import type { MailRelaySettings, MailSecrets } from '../config/mail-schema.ts'
import { domainOf } from '../config/mail-address.ts'
import { messageOf } from '../lib/message-of.ts'

/** From the connection to the relay's word that it has the message; with what a lease has left it is less than a lease. */
const mailMsMax = 15_000

export type Mail = {
  /** The same each time one message is sent: mail servers and programs know by it what they have had before. */
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly atMs: number
}

/** Hands mail to the operator's relay. */
export type Mailer = {
  /** Resolves when the relay has taken the message; rejects with a `MailError`. */
  send(mail: Mail, signal: AbortSignal): Promise<void>
  /** Whether the relay would take mail: it answers, with TLS where that is asked for, and lets this service in. */
  check(): Promise<void>
}

/** What organizations may know of a failure. What may tell of the operator's network is in the cause alone. */
export class MailError extends Error {
  override name = 'MailError'
  /** Whether there is no such recipient: no later attempt would end otherwise. */
  readonly isFinal: boolean

  constructor(message: string, { isFinal, cause }: { readonly isFinal: boolean; readonly cause: unknown }) {
    super(message, { cause })
    this.isFinal = isFinal
  }
}

const usualPorts = { starttls: 587, implicit: 465, none: 25 } as const

/**
 * The relay may be anywhere, private networks included: the operator has chosen it, and no organization can.
 *
 * Each message has a connection of its own. Alerts are few, and a connection that waits is closed by many relays.
 */
export function createMailer(settings: MailRelaySettings, { password, ca }: MailSecrets): Mailer {
  const { host, tls, user, from } = settings
  const options = {
    host,
    port: settings.port ?? usualPorts[tls],
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    // A relay that offers no sign-in is not the one that is meant.
    ...(user !== null && { auth: { user, pass: password ?? '' }, forceAuth: true }),
    ...(ca !== null && { tls: { ca } }),
    name: domainOf(from),
    connectionTimeout: mailMsMax / 3,
    greetingTimeout: mailMsMax / 3,
    socketTimeout: mailMsMax,
    dnsTimeout: mailMsMax / 3,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  let opening: Promise<Transporter> | undefined
  // It is a large program, and most services never send mail.
  const open = () => (opening ??= import('nodemailer').then(({ createTransport }) => createTransport(options)))
  return {
    async send({ id, to, subject, text, atMs }, signal) {
      // The settings may be others than when the address was written down.
      const refusal = whyNoRecipient(settings, to)
      if (refusal !== null) throw new MailError(refusal, { isFinal: false, cause: refusal })
      try {
        const transport = await open()
        await transport.sendMail({
          from: { name: 'Odyssey', address: from },
          to: { name: '', address: to },
          envelope: { from, to: [to] },
          subject,
          text,
          date: new Date(atMs),
          messageId: `<${id}@${domainOf(from)}>`,
          // Nobody's absence note is to answer.
          headers: { 'auto-submitted': 'auto-generated' },
          signal: AbortSignal.any([signal, AbortSignal.timeout(mailMsMax)]),
        })
      } catch (error) {
        throw describe(error as NodemailerError)
      }
    },
    async check() {
      const transport = await open()
      await transport.verify()
    },
  }
}

/** Enhanced status codes (RFC 3463) of recipients that there are not and will not be. */
const noSuchRecipient = /^5\d\d[ -]5\.1\.(?:1|2|3|6|10)\b/

function describe(error: NodemailerError): MailError {
  const { command = '', response, code } = error
  // Only what the relay says of the message and its recipient: greetings and sign-ins are the operator's.
  const isOfMessage = /^(?:MAIL FROM|RCPT TO|DATA)/.test(command) || code === 'EENVELOPE' || code === 'EMESSAGE'
  if (response === undefined || !isOfMessage) {
    const words =
      'The mail relay could not be reached, or did not let this service in; its operator finds why in the log.'
    return new MailError(words, { isFinal: false, cause: error })
  }
  const said = response.replaceAll(/\s+/g, ' ').slice(0, 200)
  return new MailError(`The mail relay answered: ${said}`, { isFinal: noSuchRecipient.test(response), cause: error })
}

/** Why mail may not go to an address, as far as the settings say; null where it may. */
export function whyNoRecipient(
  { recipientDomains }: Pick<MailRelaySettings, 'recipientDomains'>,
  address: string,
): string | null {
  if (recipientDomains === null || recipientDomains.includes(domainOf(address))) return null
  return `Mail goes to addresses of ${recipientDomains.join(', ')} alone, says the operator.`
}

/** What a failure is to those who run the service. */
export function reasonOf(error: unknown): string {
  return error instanceof MailError ? messageOf(error.cause) : messageOf(error)
}
