import { z } from 'zod'
import {
  endMemberSessions,
  endOwnSessions,
  listMemberSessions,
  listSessions,
  type ListedSession,
} from '../../../accounts/sign-in/session-lists.ts'
import { defineRoute, type Route } from '../route.ts'
import { id, inOrganization, memberId, nowhere, time, toTime } from '../schemas.ts'
import { method, requireSession, signInParts } from './schemas.ts'

const sessionId = id('ses')
const listed = z
  .strictObject({
    id: sessionId,
    device: z.string().describe('The browser and the system, in words.'),
    address: z.string(),
    method,
    createdAt: time,
    lastSeenAt: time,
    endsAt: time,
    isCurrent: z.boolean(),
  })
  .meta({ id: 'ListedSession' })
const list = z.strictObject({ data: z.array(listed), next: z.null() })

function show(sessions: readonly ListedSession[], currentId: string | null): z.input<typeof list> {
  const data = sessions.map(({ agent, createdAtMs, lastSeenAtMs, endsAtMs, ...rest }) => ({
    ...rest,
    device: describeDevice(agent),
    createdAt: toTime(createdAtMs),
    lastSeenAt: toTime(lastSeenAtMs),
    endsAt: toTime(endsAtMs),
    isCurrent: rest.id === currentId,
  }))
  return { data, next: null }
}

const own = '/api/v1/sessions'
const ofMember = '/api/v1/organizations/{organizationId}/members/{memberId}/sessions'
const inMember = inOrganization.extend({ memberId })
const ownFacts = { permission: 'self', scope: 'installation' } as const

export const sessionListRoutes: readonly Route[] = [
  defineRoute({
    ...ownFacts,
    method: 'GET',
    path: own,
    summary: 'List one’s own sessions',
    params: nowhere,
    answer: list,
    async work({ parts }) {
      const session = requireSession(parts)
      return show(await listSessions(signInParts(parts), session.user.id), session.id)
    },
  }),
  defineRoute({
    ...ownFacts,
    method: 'DELETE',
    path: own,
    needsProof: true,
    isForVouched: true,
    summary: 'End all other sessions of one’s own, and sign out one’s coding agents',
    params: nowhere,
    answer: 'nothing',
    work: ({ parts }) => endOwnSessions(signInParts(parts), requireSession(parts), null),
  }),
  defineRoute({
    ...ownFacts,
    method: 'DELETE',
    path: `${own}/{sessionId}`,
    needsProof: true,
    isForVouched: true,
    summary: 'End a session of one’s own',
    params: z.strictObject({ sessionId }),
    answer: 'nothing',
    work: ({ parts, params }) => endOwnSessions(signInParts(parts), requireSession(parts), params.sessionId),
  }),
  defineRoute({
    method: 'GET',
    path: ofMember,
    permission: 'sessions:read',
    scope: 'organization',
    summary: 'List the sessions of a member',
    params: inMember,
    answer: list,
    async work({ parts, principal, params }) {
      return show(await listMemberSessions(signInParts(parts), principal, params), parts.session?.id ?? null)
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: ofMember,
    permission: 'sessions:revoke',
    scope: 'organization',
    summary: 'End all sessions of a member',
    params: inMember,
    answer: 'nothing',
    work: ({ parts, principal, params }) => endMemberSessions(signInParts(parts), principal, { ...params, id: null }),
  }),
  defineRoute({
    method: 'DELETE',
    path: `${ofMember}/{sessionId}`,
    permission: 'sessions:revoke',
    scope: 'organization',
    summary: 'End a session of a member',
    params: inMember.extend({ sessionId }),
    answer: 'nothing',
    work: ({ parts, principal, params: { sessionId: chosen, ...params } }) =>
      endMemberSessions(signInParts(parts), principal, { ...params, id: chosen }),
  }),
]

/** In this order: later names stand beside earlier ones in what browsers say of themselves. */
const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const
const systems = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const

/** A browser and its system in words, by what it says of itself, such as “Firefox on Linux”. */
function describeDevice(agent: string): string {
  const find = (names: readonly (readonly [string, string])[]) => names.find(([mark]) => agent.includes(mark))?.[1]
  const [browser, system] = [find(browsers), find(systems)]
  if (browser === undefined) return system ?? 'Unknown device'
  return system === undefined ? browser : `${browser} on ${system}`
}
