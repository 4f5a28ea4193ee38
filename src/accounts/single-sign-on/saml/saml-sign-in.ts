// The way to a provider that speaks SAML, and its answer. A browser brings the answer without the cookie of whoever
// began, since another site sends it: so the answer is checked, kept for a minute, and counts once the same browser asks
// for it.

import type { ConnectionId } from '../../../core/ids.ts'
import { joinTransaction } from '../../../db/change.ts'
import { seal } from '../../../lib/seal.ts'
import { createToken, hashToken, isToken } from '../../sign-in/one-time.ts'
import { noteAttempt } from '../attempts.ts'
import type { ConnectionRow } from '../read-connections.ts'
import { SsoFault } from '../fault.ts'
import { beginFlow, flowLastsMs, readNext, type NewFlow } from '../flows.ts'
import type { Claims } from '../oidc/exchange-code.ts'
import type { SsoParts } from '../parts.ts'
import { useMessage } from '../use-message.ts'
import { samlAddresses } from './addresses.ts'
import { readTrusted } from './certificates.ts'
import { checkAnswer, requestOf } from './messages/check-answer.ts'
import { refreshMetadata } from './find-metadata.ts'
import { readKeys } from './keys.ts'
import { readResponse, type Answer } from './messages/read-response.ts'
import { writeRedirect } from './messages/redirect-binding.ts'
import { findSaml, type SamlRow } from './saml-row.ts'
import { toClaims } from './to-claims.ts'
import { writeAuthnRequest } from './messages/write-request.ts'

export type Known = { readonly connection: ConnectionRow; readonly saml: SamlRow }

/** Begins a way to the provider. Returns the address that the browser is sent to. */
export async function beginBySaml(
  parts: SsoParts,
  flow: Omit<NewFlow, 'connection'> & { readonly connection: ConnectionRow },
): Promise<string> {
  const { connection } = flow
  const before = { connection, saml: await findSaml(parts.db, connection.id) }
  const saml = (await refreshMetadata(parts, before, { isUnknownKey: false }))
    ? await findSaml(parts.db, connection.id)
    : before.saml
  const { state } = await beginFlow(parts, flow)
  const message = writeAuthnRequest({
    ...samlAddresses(parts, connection.id),
    // What the answer names is at once the secret by which the way is found.
    id: `_${state}`,
    nowMs: parts.clock.nowMs(),
    destination: saml.sign_in_url,
    nameIdFormat: saml.name_id_format,
    isForced: flow.isProof || saml.forces_sign_in === 1,
    context: saml.authn_context,
  })
  const [{ privateKey }] = readKeys(parts, connection)
  return writeRedirect({ location: saml.sign_in_url, field: 'SAMLRequest', message, relayState: null, privateKey })
}

/** What of an answer is kept until the browser asks for it. */
export type Said = { readonly claims: Claims; readonly endsAtMs: number | null; readonly hint: string }

/** The fields of a form that a provider has a browser send; null for what is not there exactly once. */
export type SamlForm = { readonly response: string | null; readonly relayState: string | null }

/** Takes a provider’s answer. Returns the path at which the browser finishes, or begins where the provider began. */
export async function receiveAnswer(parts: SsoParts, connectionId: ConnectionId, form: SamlForm): Promise<string> {
  const connection = await findConnectionRow(parts, connectionId)
  try {
    if (connection.state === 'off') throw new SsoFault('connection-off')
    return await receive(parts, connection, form)
  } catch (error) {
    if (error instanceof SsoFault) {
      await noteAttempt(parts, { connection, outcome: 'refused', code: error.code, userId: null })
    }
    throw error
  }
}

/** Also one that is switched off, so that whoever looks after it learns why nobody comes in. */
export async function findConnectionRow({ db }: Pick<SsoParts, 'db'>, id: ConnectionId): Promise<ConnectionRow> {
  const row = await db
    .selectFrom('connections')
    .innerJoin('organizations', 'organizations.id', 'connections.organization_id')
    .selectAll('connections')
    .where('connections.id', '=', id)
    .where('connections.kind', '=', 'saml')
    .where('organizations.disabled_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined) throw new SsoFault('connection-off')
  return row
}

async function receive(
  parts: SsoParts,
  connection: ConnectionRow,
  { response, relayState }: SamlForm,
): Promise<string> {
  if (response === null) throw new SsoFault('answer-invalid')
  const next = readRelayState(relayState)
  const saml = await findSaml(parts.db, connection.id)
  const answer = await readAnswer(parts, { connection, saml }, response)
  const { issuer } = connection
  const { skewSeconds, answerMsMax } = parts.sso.saml
  const moment = { nowMs: parts.clock.nowMs(), skewMs: skewSeconds * 1_000, ageMsMax: answerMsMax }
  const agreed = { issuer, nameIdFormat: saml.name_id_format, context: saml.authn_context }
  const usableUntilMs = checkAnswer(answer, { ...agreed, ...samlAddresses(parts, connection.id) }, moment)
  const request = requestOf(answer)
  if (request === null) return bounce({ connection, saml }, next)
  // What nobody can be known by is refused before it uses anything up.
  const said: Said = {
    claims: toClaims(answer.assertion, connection, saml),
    endsAtMs: answer.assertion.authentication.sessionEndsAtMs,
    hint: JSON.stringify(answer.assertion.nameId),
  }
  const handle = createToken()
  await parts.db.transaction().execute(async (transaction) => {
    const joined = { ...parts, db: joinTransaction(transaction) }
    const message = { connectionId: connection.id, messageId: `assertion ${answer.assertion.id}` }
    if (!(await useMessage(joined, { ...message, endsAtMs: usableUntilMs }))) throw new SsoFault('saml-replay')
    const flow = await findFlow(joined, connection, request)
    if (connection.state !== 'on' && flow.user_id === null) throw new SsoFault('connection-off')
    checkAskedAnew(answer, { isAsked: flow.is_proof === 1 || saml.forces_sign_in === 1, ...flow }, moment.skewMs)
    const handle_hash = hashToken(handle)
    const { nowMs } = moment
    await transaction.deleteFrom('sso_results').where('ends_at', '<=', nowMs).execute()
    await transaction
      .insertInto('sso_results')
      .values({
        handle_hash,
        connection_id: connection.id,
        organization_id: connection.organization_id,
        browser_hash: flow.browser_hash,
        sealed: seal(parts.signIn.sealKey, `sso result ${handle_hash}`, JSON.stringify(said)),
        next: flow.next,
        user_id: flow.user_id,
        is_proof: flow.is_proof,
        ends_at: nowMs + resultLastsMs,
        used_at: null,
      })
      .execute()
  })
  return `/sso/complete?r=${handle}`
}

/** The browser asks for it at once. */
const resultLastsMs = 60_000

/** An answer that nobody has asked for opens nothing: the browser is sent to ask. */
function bounce({ connection, saml }: Known, next: string): string {
  if (saml.provider_initiated !== 'bounce' || connection.state !== 'on') throw new SsoFault('saml-unsolicited')
  return `/sso/${connection.id}/start?next=${encodeURIComponent(next)}`
}

const relayStateBytesMax = 80

/** This service sends none, so what comes is a provider’s own: where somebody goes on to, or nothing. */
function readRelayState(text: string | null): string {
  if (text === null || text === '') return '/'
  const next = readNext(text)
  const isPath = text.startsWith('/') && Buffer.byteLength(text) <= relayStateBytesMax && (next !== '/' || text === '/')
  if (!isPath) throw new SsoFault('answer-invalid')
  return next
}

/** Reads an answer by the certificates that are known; one by another key has the description read anew, once. */
async function readAnswer(parts: SsoParts, known: Known, response: string): Promise<Answer> {
  const privateKeys = readKeys(parts, known.connection).map(({ privateKey }) => privateKey)
  await refreshMetadata(parts, known, { isUnknownKey: false })
  const read = async () =>
    readResponse(response, { certificates: await readTrusted(parts, known.connection), privateKeys })
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof SsoFault) || error.code !== 'saml-signature') throw error
    const saml = await findSaml(parts.db, known.connection.id)
    if (!(await refreshMetadata(parts, { ...known, saml }, { isUnknownKey: true }))) throw error
    return read()
  }
}

/** Uses up the way that an answer names. Of two that come at once, on whichever gateways, one finds it used. */
async function findFlow({ db, clock }: Pick<SsoParts, 'db' | 'clock'>, { id }: ConnectionRow, request: string) {
  const state = request.slice(1)
  if (!request.startsWith('_') || !isToken(state)) throw new SsoFault('no-flow')
  const now = clock.nowMs()
  const row = await db
    .updateTable('sso_flows')
    .set({ used_at: now })
    .where('state_hash', '=', hashToken(state))
    .where('connection_id', '=', id)
    .where('used_at', 'is', null)
    .where('ends_at', '>', now)
    .returningAll()
    .executeTakeFirst()
  if (row === undefined) throw new SsoFault('no-flow')
  return row
}

type Asking = { readonly isAsked: boolean; readonly ends_at: number }

/** A provider that had to ask anew who somebody is has done so after it was told to. */
function checkAskedAnew({ assertion }: Answer, { isAsked, ends_at }: Asking, skewMs: number): void {
  const begunAtMs = ends_at - flowLastsMs
  if (isAsked && assertion.authentication.atMs < begunAtMs - skewMs) throw new SsoFault('saml-time')
}
