import { createInvitation } from '../../accounts/sign-in/invitations.ts'
import { readFactors, type Factors } from '../../accounts/sign-in/factors.ts'
import {
  createRecoveryLink,
  createSetupLink,
  isSetupNeeded,
  listInstallationOwners,
} from '../../accounts/sign-in/setup.ts'
import { readMember } from '../../accounts/read-member.ts'
import { findMemberUser } from '../../accounts/sign-in/users.ts'
import type { Config } from '../../config/schema.ts'
import { Site } from '../../service/joins/make-setup-link.ts'
import { signInSettings } from '../../service/joins/create-management.ts'
import type { Installation } from '../../service/joins/open-installation.ts'
import { readServiceFile } from '../../service/status/service-file.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import {
  operator,
  print,
  printList,
  readAll,
  readOrganizationId,
  requireId,
  withInstallation,
} from './with-installation.ts'
import { endMemberSessions, listMemberSessions } from '../../accounts/sign-in/session-lists.ts'
import { createMember, listMembers, removeMember, setMemberRole } from '../../accounts/members.ts'
import { setProjectMember } from '../../accounts/projects.ts'
import type { OrganizationId, UserId } from '../../core/ids.ts'
import { type Role, roles } from '../../core/role.ts'
import { showDay } from './moments.ts'

const text = { type: 'string' } as const
const options = { organization: text, member: text, json: { type: 'boolean', default: false } } as const
const linkOptions = { ...options, 'end-others': { type: 'boolean', default: false } } as const

type Made = {
  readonly link: string
  readonly what: string
  /** What the owner can sign in with now; absent where nobody signs in yet. */
  readonly factors?: Factors
}

/**
 * `odyssey owners link`: makes a link by which an owner gets a way to sign in, without one that works.
 *
 * It signs nobody in by itself: whoever opens it makes a passkey or a password of their own. What they have signed in with
 * until then stays, unless it is said that it ends.
 */
export async function ownersCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options: linkOptions, words: { link: 0 } })
  if (positionals[0] !== 'link') throw new UsageError('owners takes link.')
  await withInstallation(async (installation, config) => {
    const { member, organization, 'end-others': endsOthers } = values
    const site = findSite(config)
    const made =
      member === undefined
        ? await linkForInstallation(installation, site, endsOthers)
        : await linkForMember({ installation, config, site }, { member, organization, endsOthers })
    const { link, what, factors } = made
    const left = factors === undefined ? [] : ['', describeFactors(factors, endsOthers)]
    print(values.json, { link, endsOthers, ...(factors !== undefined && { factors }) }, [
      what,
      '',
      `  ${link}`,
      ...left,
    ])
  })
}

/** Where the service listens, as long as it runs; else where it would. */
function findSite(config: Config): Site {
  const site = new Site(config)
  const running = readServiceFile(config.home)
  if (running !== null) site.listensAt(running.address)
  return site
}

async function linkForInstallation({ accounts }: Installation, site: Site, endsOthers: boolean): Promise<Made> {
  if (endsOthers && (await isSetupNeeded(accounts))) throw nothingToEnd()
  const token = await createSetupLink(accounts)
  if (token !== null) {
    return { link: `${site.url}/setup#${token}`, what: 'The first owner signs in with this link, within 24 hours:' }
  }
  const [owner, ...others] = await listInstallationOwners(accounts)
  if (owner === undefined || others.length > 0) {
    throw new UsageError('There are several owners: say whose link it is with --member ID.')
  }
  return recover(accounts, site, { userId: owner, endsOthers })
}

type Wanted = { readonly member: string; readonly organization: string | undefined; readonly endsOthers: boolean }
type LinkParts = { readonly installation: Installation; readonly config: Config; readonly site: Site }

async function linkForMember(
  { installation, config, site }: LinkParts,
  { member, organization, endsOthers }: Wanted,
): Promise<Made> {
  const { accounts, secrets } = installation
  const organizationId = readOrganizationId(organization, installation)
  const reference = { id: requireId(member, 'mem'), organizationId }
  const { role, email } = await readMember(accounts, operator, reference)
  if (role !== 'owner') throw new UsageError(`${member} is no owner: an owner invites the others again.`)
  const userId = await findMemberUser(accounts, reference)
  if (userId !== null) return recover(accounts, site, { userId, endsOthers })
  if (endsOthers) throw nothingToEnd()
  const parts = { ...accounts, signIn: signInSettings(config, secrets) }
  const { token } = await createInvitation(parts, operator, { organizationId, email, role, projectIds: [] })
  return { link: `${site.url}/invite#${token}`, what: `${email} accepts with this link, within seven days:` }
}

function nothingToEnd(): UsageError {
  return new UsageError('--end-others is for an owner who signs in already.')
}

type Recovering = { readonly userId: UserId; readonly endsOthers: boolean }

async function recover(
  accounts: Installation['accounts'],
  site: Site,
  { userId, endsOthers }: Recovering,
): Promise<Made> {
  const token = await createRecoveryLink(accounts, userId, { endsOthers })
  const what = 'The owner makes another passkey or password with this link, within ten minutes; their sessions end:'
  return { link: `${site.url}/login#${token}`, what, factors: await readFactors(accounts, userId) }
}

/** Says what of an owner's ways to sign in is left, or ends, when the link is used. */
function describeFactors({ passkeys, hasPassword, hasTotp, recoveryCodesLeft }: Factors, endsOthers: boolean): string {
  const names = passkeys.map(({ name }) => `the passkey “${name}”`)
  const all = [
    ...names,
    ...(hasPassword ? ['the password'] : []),
    ...(hasTotp ? ['the authenticator app'] : []),
    ...(recoveryCodesLeft > 0 ? [`${recoveryCodesLeft} recovery codes`] : []),
  ]
  if (all.length === 0) return 'They have no other way to sign in.'
  if (endsOthers) return `When it is used, these end: ${all.join(', ')}.`
  return `These still let them in afterwards: ${all.join(', ')}. A link made with --end-others ends them.`
}

/** `odyssey sessions`: who is signed in, and the end of it; works on the database directly, as `members` does. */
export async function sessionsCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, words: { list: 0, revoke: 1 } })
  const [verb = '', id] = positionals
  if (verb !== 'list' && verb !== 'revoke') throw new UsageError('sessions takes list, revoke.')
  await withInstallation(async (installation, config) => {
    const parts = { ...installation.accounts, signIn: signInSettings(config, installation.secrets) }
    const memberId = requireId(values.member, 'mem')
    const reference = { organizationId: readOrganizationId(values.organization, installation), memberId }
    if (verb === 'revoke') {
      const chosen = id === undefined ? null : requireId(id, 'ses')
      await endMemberSessions(parts, operator, { ...reference, id: chosen })
      print(values.json, reference, [`${chosen ?? `Every session of ${memberId}`} is ended.`])
      return
    }
    const sessions = await listMemberSessions(parts, operator, reference)
    const lines = sessions.map(({ id: session, createdAtMs, method, address, agent }) => {
      return `${session}  ${new Date(createdAtMs).toISOString()}  ${method}  ${address}  ${agent}`
    })
    printList(values.json, 'sessions', sessions, lines)
  })
}

const memberOptions = {
  organization: text,
  email: text,
  name: text,
  role: text,
  project: text,
  json: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof readArguments>['values']
type Given = { readonly organizationId: OrganizationId; readonly id: string | undefined; readonly values: Values }
type Action = (installation: Installation, given: Given) => Promise<void>

const actions: Readonly<Record<string, Action>> = {
  create,
  list,
  role: setRole,
  remove,
  show: (installation, given) => setSight(installation, given, true),
  hide: (installation, given) => setSight(installation, given, false),
}

const memberWords = { create: 0, list: 0, role: 1, remove: 1, show: 1, hide: 1 }

/** `odyssey members`: works on the database directly, as `keys` does. */
export async function membersCommand(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args)
  const [verb = '', id] = positionals
  const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
  if (action === undefined) throw new UsageError(`members takes ${Object.keys(actions).join(', ')}.`)
  await withInstallation((installation) => {
    return action(installation, { organizationId: readOrganizationId(values.organization, installation), id, values })
  })
}

function readArguments(args: string[]) {
  return parseArguments({ args, options: memberOptions, words: memberWords })
}

async function create({ accounts }: Installation, { organizationId, values }: Given): Promise<void> {
  const { email, name = email } = values
  if (email === undefined || name === undefined) throw new UsageError('members create needs --email E-MAIL.')
  const id = await createMember(accounts, operator, { organizationId, email, name, role: readRole(values.role) })
  print(values.json, { id }, [`${id} is made.`])
}

async function list({ accounts }: Installation, { organizationId, values }: Given): Promise<void> {
  const members = await readAll((cursor) =>
    listMembers(accounts, operator, { organizationId, ...(cursor !== undefined && { cursor }) }),
  )
  const lines = members.map(({ id, email, name, role, roleId, createdAtMs, removedAtMs }) => {
    return `${id}  ${showDay(createdAtMs)}  ${removedAtMs === null ? (roleId ?? role) : 'removed'}  ${email}  ${name}`
  })
  printList(values.json, 'members', members, lines)
}

async function setRole({ accounts }: Installation, { organizationId, id, values }: Given): Promise<void> {
  const reference = { id: requireId(id, 'mem'), organizationId }
  const { role: wanted = '' } = values
  const role = wanted.startsWith('role_') ? requireId(wanted, 'role') : readRole(wanted)
  await setMemberRole(accounts, operator, reference, role)
  print(values.json, { ...reference, role }, [`${reference.id} has the role ${role}.`])
}

async function remove({ accounts }: Installation, { organizationId, id, values }: Given): Promise<void> {
  const reference = { id: requireId(id, 'mem'), organizationId }
  await removeMember(accounts, operator, reference)
  print(values.json, reference, [`${reference.id} is removed, and the keys it owned are revoked.`])
}

async function setSight(
  { accounts }: Installation,
  { organizationId, id, values }: Given,
  maySee: boolean,
): Promise<void> {
  const memberId = requireId(id, 'mem')
  const project = requireId(values.project, 'proj')
  await setProjectMember(accounts, operator, { id: project, organizationId, memberId, maySee })
  print(values.json, { memberId, project, maySee }, [`${memberId} may ${maySee ? 'now' : 'no longer'} see ${project}.`])
}

function readRole(given: string | undefined): Role {
  const role = roles.find((known) => known === given)
  if (role === undefined) throw new UsageError(`--role takes ${roles.join(', ')}.`)
  return role
}
