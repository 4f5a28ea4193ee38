import type { ConnectionId } from '../../../core/ids.ts'
import type { SsoParts } from '../parts.ts'
import { samlAddresses } from './addresses.ts'
import { readTrusted } from './certificates.ts'
import { checkAnswer, requestOf } from './messages/check-answer.ts'
import { readKeys } from './keys.ts'
import { readResponse } from './messages/read-response.ts'
import { findSaml } from './saml-row.ts'
import { findConnectionRow } from './saml-sign-in.ts'
import { toClaims } from './to-claims.ts'

/**
 * Checks an answer that was captured, as it would have been when it was made, and uses nothing up. Takes the form’s field
 * or the XML itself. Throws as the sign-in would; returns what was found right otherwise.
 */
export async function explainAnswer(parts: SsoParts, id: ConnectionId, text: string): Promise<readonly string[]> {
  const connection = await findConnectionRow(parts, id)
  const saml = await findSaml(parts.db, id)
  const encoded = text.startsWith('<') ? Buffer.from(text).toString('base64') : text
  const privateKeys = readKeys(parts, connection).map(({ privateKey }) => privateKey)
  const answer = readResponse(encoded, { certificates: await readTrusted(parts, connection), privateKeys })
  const { skewSeconds, answerMsMax } = parts.sso.saml
  const moment = { nowMs: answer.assertion.issuedAtMs, skewMs: skewSeconds * 1_000, ageMsMax: answerMsMax }
  const agreed = { issuer: connection.issuer, nameIdFormat: saml.name_id_format, context: saml.authn_context }
  checkAnswer(answer, { ...agreed, ...samlAddresses(parts, id) }, moment)
  const request = requestOf(answer)
  const { email, name } = toClaims(answer.assertion, connection, saml)
  const { attributes, nameId } = answer.assertion
  return [
    `Signed: ${answer.isSigned ? 'the response' : 'the assertion'}.`,
    `Made at ${new Date(answer.assertion.issuedAtMs).toISOString()}; checked as of then.`,
    request === null ? 'Nobody has asked for it.' : 'It answers a request.',
    `Name of the person: ${nameId.value}.`,
    `E-mail address: ${typeof email === 'string' ? email : 'none'}. Name: ${typeof name === 'string' ? name : 'none'}.`,
    `Attributes: ${[...attributes.keys()].join(', ') || 'none'}.`,
    `Groups: ${attributes.get(connection.groups_claim)?.join(', ') ?? `none, as there is no ${connection.groups_claim}`}.`,
  ]
}
