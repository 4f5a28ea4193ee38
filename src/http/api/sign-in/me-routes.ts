import { z } from 'zod'
import {
  beginTotp,
  confirmTotp,
  createPasskey,
  readAccount,
  removePassword,
  removePasskey,
  removeTotp,
  renewRecoveryCodes,
  setPassword,
  updateProfile,
} from '../../../accounts/sign-in/factors.ts'
import { defineRoute, type Route, type RouteParts } from '../route.ts'
import { given, id, name, nowhere, time, toTime, toTimeOrNull } from '../schemas.ts'
import { preferences, readPreferences } from './describe-session.ts'
import { examplePassword, newPasskey, requireSession, signInParts } from './schemas.ts'

const path = '/api/v1/me'
const passkeyId = z.base64url().min(2).max(1_400)

const account = z
  .strictObject({
    id: id('usr'),
    name: z.string(),
    email: z.string(),
    preferences,
    passkeys: z.array(
      z.strictObject({
        id: passkeyId,
        name: z.string(),
        createdAt: time,
        lastUsedAt: time.nullable(),
        isBackedUp: z.boolean().describe('Whether it is kept in more than one place.'),
      }),
    ),
    hasPassword: z.boolean(),
    hasTotp: z.boolean(),
    recoveryCodesLeft: z.int(),
  })
  .meta({ id: 'Account' })

async function show(parts: RouteParts): Promise<z.input<typeof account>> {
  const session = requireSession(parts)
  const { passkeys, ...rest } = await readAccount(signInParts(parts), session)
  return {
    ...rest,
    id: session.user.id,
    preferences: readPreferences(rest.preferences),
    passkeys: passkeys.map(({ createdAtMs, lastUsedAtMs, ...passkey }) => {
      return { ...passkey, createdAt: toTime(createdAtMs), lastUsedAt: toTimeOrNull(lastUsedAtMs) }
    }),
  }
}

const facts = { permission: 'self', scope: 'installation', params: nowhere } as const
const proven = { ...facts, needsProof: true } as const
const examplePasskey = {
  name: 'Laptop',
  response: {
    id: 'e30x',
    rawId: 'e30x',
    type: 'public-key',
    response: { clientDataJSON: 'e30', authenticatorData: 'e30', publicKey: 'e30', publicKeyAlgorithm: -7 },
  },
}

export const meRoutes: readonly Route[] = [
  defineRoute({
    ...facts,
    method: 'GET',
    path,
    summary: 'Read one’s own account',
    answer: account,
    work: ({ parts }) => show(parts),
  }),
  defineRoute({
    ...facts,
    method: 'PATCH',
    path,
    isForVouched: true,
    summary: 'Change one’s own name or preferences; what is not given stays',
    body: z.strictObject({ name: name.optional(), preferences: preferences.partial().optional() }),
    example: { name: 'Ann Lee' },
    answer: account,
    async work({ parts, body }) {
      const session = requireSession(parts)
      const known = readPreferences(session.preferences)
      const changed = body.preferences && JSON.stringify({ ...known, ...body.preferences })
      await updateProfile(signInParts(parts), session, given({ name: body.name, preferences: changed }))
      const { preferences: text } = await readAccount(signInParts(parts), session)
      return { ...(await show(parts)), preferences: readPreferences(text) }
    },
  }),
  defineRoute({
    ...proven,
    method: 'POST',
    path: `${path}/passkeys`,
    summary: 'Add a passkey',
    body: newPasskey,
    example: examplePasskey,
    answer: account,
    async work({ parts, body }) {
      const session = requireSession(parts)
      const { browser } = parts
      const asked = { purpose: 'add', browser: browser.flow, userId: session.user.id } as const
      await createPasskey(signInParts(parts), session, { ...body, party: browser.party, asked })
      return show(parts)
    },
  }),
  defineRoute({
    ...proven,
    method: 'DELETE',
    path: `${path}/passkeys/{passkeyId}`,
    summary: 'Remove a passkey',
    params: z.strictObject({ passkeyId }),
    answer: 'nothing',
    work: ({ parts, params }) => removePasskey(signInParts(parts), requireSession(parts), params.passkeyId),
  }),
  defineRoute({
    ...proven,
    method: 'PUT',
    path: `${path}/password`,
    hasOwnTransactions: true,
    summary: 'Set or replace one’s own password',
    body: z.strictObject({ password: z.string().max(1_000) }),
    example: { password: examplePassword.password },
    answer: account,
    async work({ parts, body }) {
      await setPassword(signInParts(parts), requireSession(parts), body.password)
      return show(parts)
    },
  }),
  defineRoute({
    ...proven,
    method: 'DELETE',
    path: `${path}/password`,
    summary: 'Remove one’s own password, and the authenticator app behind it',
    answer: 'nothing',
    work: ({ parts }) => removePassword(signInParts(parts), requireSession(parts)),
  }),
  defineRoute({
    ...proven,
    method: 'POST',
    path: `${path}/totp`,
    summary: 'Make a secret for an authenticator app; it counts once a code was given',
    answer: z.strictObject({ secret: z.string(), uri: z.string() }).meta({ id: 'NewTotp' }),
    work: ({ parts }) => beginTotp(signInParts(parts), requireSession(parts)),
  }),
  defineRoute({
    ...proven,
    method: 'POST',
    path: `${path}/totp/confirm`,
    summary: 'Give the first code of an authenticator app',
    body: z.strictObject({ code: z.string().regex(/^\d{6}$/, 'A code has six digits.') }),
    example: { code: '123456' },
    answer: account,
    async work({ parts, body }) {
      await confirmTotp(signInParts(parts), requireSession(parts), body.code)
      return show(parts)
    },
  }),
  defineRoute({
    ...proven,
    method: 'DELETE',
    path: `${path}/totp`,
    summary: 'Remove the authenticator app',
    answer: 'nothing',
    work: ({ parts }) => removeTotp(signInParts(parts), requireSession(parts)),
  }),
  defineRoute({
    ...proven,
    method: 'POST',
    path: `${path}/recovery-codes`,
    summary: 'Make ten recovery codes in the place of all before. The answer is the only place where they are shown',
    answer: z.strictObject({ codes: z.array(z.string()) }).meta({ id: 'RecoveryCodes' }),
    work: async ({ parts }) => ({ codes: [...(await renewRecoveryCodes(signInParts(parts), requireSession(parts)))] }),
  }),
]
