import { listConflicts } from '../../accounts/directory/conflicts.ts'
import {
  createDirectory,
  listDirectories,
  readDirectory,
  removeDirectory,
  rotateDirectoryToken,
  type Directory,
} from '../../accounts/directory/directories.ts'
import { listDirectoryMappings, previewMappings, setDirectoryMappings } from '../../accounts/directory/mappings.ts'
import { listDirectoryGroups } from '../../accounts/directory/read-groups.ts'
import type { AccountsParts } from '../../accounts/parts.ts'
import type { GroupMapping } from '../../accounts/single-sign-on/group-mappings.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { roles } from '../../core/role.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { parseDuration } from './moments.ts'
import { operator, print, printList, readOrganizationId, requireId, withInstallation } from './with-installation.ts'

const text = { type: 'string' } as const
const options = {
  organization: text,
  name: text,
  role: text,
  overlap: text,
  project: { type: 'string', multiple: true },
  unmap: { type: 'boolean', default: false },
  preview: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof readArguments>['values']
type Given = {
  readonly parts: AccountsParts
  readonly organizationId: OrganizationId
  readonly baseUri: string
  readonly words: readonly string[]
  readonly values: Values
}
type Action = (given: Given) => Promise<void>

const actions: Readonly<Record<string, Action>> = { create, list, status, rotate, map, remove }

const words = { create: 0, list: 0, status: 1, rotate: 1, map: 2, remove: 1 }

/** `odyssey directory`: which directories tell who the members of an organization are, by SCIM. */
export async function directoryCommand(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args)
  const [verb = '', ...words] = positionals
  const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
  if (action === undefined) throw new UsageError(`directory takes ${Object.keys(actions).join(', ')}.`)
  await withInstallation((installation, config) => {
    const baseUri = `${config.server.publicUrl ?? `http://localhost:${config.port}`}/scim/v2`
    const organizationId = readOrganizationId(values.organization, installation)
    return action({ parts: installation.accounts, organizationId, baseUri, words, values })
  })
}

function readArguments(args: string[]) {
  return parseArguments({ args, options, words })
}

function referenceOf({ organizationId, words }: Given) {
  return { organizationId, id: requireId(words[0], 'dir') }
}

async function create({ parts, organizationId, baseUri, values }: Given): Promise<void> {
  const defaultRole = readRole(values.role ?? 'developer')
  const wanted = { organizationId, name: values.name ?? 'Directory', defaultRole }
  const made = await createDirectory(parts, operator, wanted)
  print(values.json, { ...made, baseUri }, [
    `${made.id} is made. Tell the directory this address and this token, which is shown only now:`,
    '',
    `  ${baseUri}`,
    `  ${made.token}`,
  ])
}

function readRole(given: string): GroupMapping['role'] {
  const role = roles.find((known) => known === given)
  if (role === undefined) throw new UsageError(`--role takes ${roles.join(', ')}.`)
  return role
}

async function list({ parts, organizationId, values }: Given): Promise<void> {
  const found = await listDirectories(parts, operator, organizationId)
  const lines = found.map((one) => `${one.id}  ${showSeen(one)}  ${one.activeUsers} of ${one.users} users  ${one.name}`)
  printList(values.json, 'directories', found, lines)
}

function showSeen({ lastSeenAtMs }: Directory): string {
  return lastSeenAtMs === null ? 'never seen' : `seen ${new Date(lastSeenAtMs).toISOString()}`
}

async function status({ values, ...given }: Given): Promise<void> {
  const { parts } = given
  const reference = referenceOf({ values, ...given })
  const directory = await readDirectory(parts, operator, reference)
  const conflicts = await listConflicts(parts, operator, reference)
  const groups = await listDirectoryGroups(parts, operator, reference)
  const mappings = await listDirectoryMappings(parts, operator, reference)
  print(values.json, { ...directory, groups, mappings, conflicts }, [
    `${directory.name}: ${showSeen(directory)}, ${directory.activeUsers} of ${directory.users} users let in`,
    ...directory.tokens.map(({ lastFour, expiresAtMs }) => {
      return `  token …${lastFour}  ${expiresAtMs === null ? 'no end' : `until ${new Date(expiresAtMs).toISOString()}`}`
    }),
    ...groups.map(({ name, members }) => {
      const mapping = mappings.find(({ group }) => group === name)
      return `  group ${name}  ${members} users  ${mapping === undefined ? 'gives nothing' : mapping.role}`
    }),
    ...conflicts.slice(0, 20).map(({ atMs, method, path, status: code, detail }) => {
      return `  refused ${new Date(atMs).toISOString()}  ${code}  ${method} ${path}  ${detail}`
    }),
  ])
}

async function rotate({ values, ...given }: Given): Promise<void> {
  const overlapMs = values.overlap === undefined ? 7 * 86_400_000 : parseDuration(values.overlap, '--overlap')
  const reference = referenceOf({ values, ...given })
  const token = await rotateDirectoryToken(given.parts, operator, reference, overlapMs)
  print(values.json, { ...reference, token }, [`${token}\n\nThis token is shown only now.`])
}

/** Puts a group’s mapping behind those there are, or in the place of its own. */
async function map({ values, ...given }: Given): Promise<void> {
  const { parts, words } = given
  const reference = referenceOf({ values, ...given })
  const [, group] = words
  if (group === undefined || (values.role === undefined && !values.unmap)) {
    throw new UsageError('directory map needs ID and a group’s name, with --role ROLE or --unmap.')
  }
  const known = await listDirectoryMappings(parts, operator, reference)
  const projectIds = (values.project ?? []).map((id) => requireId(id, 'proj'))
  const wanted = values.role === undefined ? null : { group, role: readRole(values.role), projectIds }
  const isKnown = known.some((one) => one.group === group)
  const replaced = known.flatMap((one) => (one.group === group ? (wanted === null ? [] : [wanted]) : [one]))
  const mappings = isKnown || wanted === null ? replaced : [...known, wanted]
  if (values.preview) {
    const changes = await previewMappings(parts, operator, reference, mappings)
    const lines = changes.map(
      ({ id, email, roleBefore, roleAfter }) => `${id}  ${roleBefore} -> ${roleAfter}  ${email}`,
    )
    return printList(values.json, 'changes', changes, lines)
  }
  await setDirectoryMappings(parts, operator, reference, mappings)
  print(values.json, { ...reference, mappings }, [`${group} gives ${wanted === null ? 'nothing' : wanted.role}.`])
}

async function remove({ values, ...given }: Given): Promise<void> {
  const reference = referenceOf({ values, ...given })
  await removeDirectory(given.parts, operator, reference)
  print(values.json, reference, [`${reference.id} is removed. Its members stay as they are.`])
}
