import { isMailAddress } from '../config/mail-address.ts'
import type { MailRelaySettings } from '../config/mail-schema.ts'
import type { ChannelKind } from '../core/alert-topic.ts'
import { invalidRequest } from '../core/error.ts'
import type { AlertChannelTable } from '../db/tables/alerts.ts'
import { unseal } from '../lib/seal.ts'
import { whyNoRecipient } from './mail.ts'

/** What is kept sealed of a channel. */
export type ChannelTarget = { readonly address: string; readonly secret: string }

/** Whom mail may go to. */
export type MailRules = Pick<MailRelaySettings, 'recipientDomains'>

type Wanted = {
  readonly kind: ChannelKind
  /** Null where the kind has none. */
  readonly address: string | null
}

type Target = { readonly address: string; readonly shown: string }

/** Throws for an address that nothing can be sent to. */
export function readTarget({ kind, address }: Wanted, mail: MailRules | null): Target {
  if (kind === 'email') return readRecipient(address ?? '', mail)
  if (kind === 'log') {
    if (address === null) return { address: '', shown: 'the log of the service' }
    throw invalidRequest(['address'], 'value', 'A channel to the log has no address.')
  }
  const url = URL.parse(address ?? '')
  const isUsable = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  if (isUsable) return { address: url.href, shown: url.origin }
  throw invalidRequest(['address'], 'value', 'A webhook needs an address with http or https, and no password in it.')
}

/** One address for each channel: a relay that takes one recipient of two would have the other told twice. */
function readRecipient(address: string, mail: MailRules | null): Target {
  if (mail === null) {
    throw invalidRequest(['kind'], 'value', 'No mail leaves this service: its operator has set no relay (alerts.mail).')
  }
  if (!isMailAddress(address)) {
    throw invalidRequest(['address'], 'value', 'A channel by e-mail needs one address, such as alerts@example.com.')
  }
  const refusal = whyNoRecipient(mail, address)
  if (refusal === null) return { address, shown: address }
  throw invalidRequest(['address'], 'value', refusal)
}

export function openTarget(
  alertKey: Uint8Array,
  { id, sealed }: Pick<AlertChannelTable, 'id' | 'sealed'>,
): ChannelTarget {
  return JSON.parse(unseal(alertKey, id, sealed)) as ChannelTarget
}
