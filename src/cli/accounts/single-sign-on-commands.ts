import { readFileSync } from 'node:fs'
import { listAttempts } from '../../accounts/single-sign-on/attempts.ts'
import { createConnection, removeConnection, setConnectionOn } from '../../accounts/single-sign-on/connections.ts'
import { listConnections, readConnection } from '../../accounts/single-sign-on/read-connections.ts'
import { enforceConnection, relaxConnection } from '../../accounts/single-sign-on/enforcement.ts'
import type { SsoParts } from '../../accounts/single-sign-on/parts.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { createBySaml, explain, rotateKey, showCertificates } from './saml-actions.ts'
import { signInSettings } from '../../service/joins/create-management.ts'
import { openSingleSignOn } from '../../service/joins/open-single-sign-on.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { operator, print, printList, readOrganizationId, requireId, withInstallation } from './with-installation.ts'
import {
  addDomain,
  listDomains,
  readDomain,
  removeDomain,
  trustDomain,
  verifyDomain,
  type Domain,
} from '../../accounts/single-sign-on/domains.ts'

const text = { type: 'string' } as const
const options = {
  organization: text,
  name: text,
  oidc: text,
  saml: text,
  connection: text,
  'verifies-emails': { type: 'boolean', default: false },
  'makes-members': { type: 'boolean', default: false },
  'client-id': text,
  'client-secret-file': text,
  tenant: text,
  member: text,
  json: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof readArguments>['values']
type Given = {
  readonly parts: SsoParts
  readonly organizationId: OrganizationId
  readonly id: string | undefined
  readonly values: Values
}
type Action = (given: Given) => Promise<void>

const actions: Readonly<Record<string, Action>> = {
  create,
  list,
  show,
  enable: (given) => setOn(given, true),
  disable: (given) => setOn(given, false),
  enforce,
  relax,
  remove,
  'rotate-key': (given) => rotateKey(given, referenceOf(given)),
}

/** What stands beside `connections`, each with the id of one or a file. */
const others: Readonly<Record<string, Action>> = {
  attempts,
  certificates: (given) => showCertificates(given, referenceOf(given)),
  explain: explainFile,
}

const words = {
  connections: {
    create: 0,
    list: 0,
    show: 1,
    enable: 1,
    disable: 1,
    enforce: 1,
    relax: 1,
    remove: 1,
    'rotate-key': 1,
  },
  attempts: 1,
  certificates: 1,
  explain: 1,
}

/** `odyssey sso`: connections to identity providers, and why logins by them have failed. */
export async function ssoCommand(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args)
  const [noun = '', verb = '', last] = positionals
  const isOther = Object.hasOwn(others, noun)
  const action = isOther ? others[noun] : Object.hasOwn(actions, verb) ? actions[verb] : undefined
  if ((noun !== 'connections' && !isOther) || action === undefined) {
    const known = Object.keys(actions).join(', ')
    throw new UsageError(`sso takes attempts ID, certificates ID, explain FILE, or connections with ${known}.`)
  }
  await withInstallation((installation, config) => {
    const signIn = signInSettings(config, installation.secrets)
    const siteUrl = config.server.publicUrl ?? `http://localhost:${config.port}`
    const parts = { ...installation.accounts, signIn, sso: openSingleSignOn(config, () => siteUrl) }
    const organizationId = readOrganizationId(values.organization, installation)
    return action({ parts, organizationId, id: isOther ? verb : last, values })
  })
}

function readArguments(args: string[]) {
  return parseArguments({ args, options, words })
}

function referenceOf({ organizationId, id }: Pick<Given, 'organizationId' | 'id'>) {
  return { organizationId, id: requireId(id, 'conn') }
}

async function create({ parts, organizationId, values }: Given): Promise<void> {
  if (values.saml !== undefined) {
    return createBySaml({ parts, values: { ...values, saml: values.saml, name: values.name, organizationId } })
  }
  const { oidc: issuer, 'client-id': clientId, 'client-secret-file': file } = values
  if (issuer === undefined || clientId === undefined || file === undefined || !URL.canParse(issuer)) {
    throw new UsageError(
      'sso connections create needs --saml URL or FILE, or --oidc ISSUER, --client-id ID and --client-secret-file FILE.',
    )
  }
  const id = await createConnection(parts, operator, {
    organizationId,
    name: values.name ?? new URL(issuer).hostname,
    issuer,
    clientId,
    // What stands on a command line is read by every program of the machine.
    clientSecret: readFileSync(file, 'utf8').trim(),
    tokenAuth: 'client_secret_basic',
    signingAlgorithm: 'RS256',
    scopes: 'openid email profile',
    tenant: values.tenant ?? null,
    groupsClaim: 'groups',
    makesMembers: false,
    signsOutThere: false,
    defaultRole: 'developer',
  })
  print(values.json, { id }, [`${id} is made. Nobody signs in by it until it is enabled.`])
}

async function list({ parts, organizationId, values }: Given): Promise<void> {
  const connections = await listConnections(parts, operator, organizationId)
  const lines = connections.map(({ id, state, enforcedAtMs, issuer, name }) => {
    return `${id}  ${enforcedAtMs === null ? state : 'enforced'}  ${issuer}  ${name}`
  })
  printList(values.json, 'connections', connections, lines)
}

async function show({ values, ...given }: Given): Promise<void> {
  const connection = await readConnection(given.parts, operator, referenceOf(given))
  const lines = Object.entries(connection).map(([name, value]) => `${name}: ${String(value)}`)
  print(values.json, connection, lines)
}

async function setOn({ values, ...given }: Given, isOn: boolean): Promise<void> {
  const reference = referenceOf(given)
  await setConnectionOn(given.parts, operator, reference, isOn)
  print(values.json, reference, [`${reference.id} is switched ${isOn ? 'on' : 'off'}.`])
}

async function enforce({ values, ...given }: Given): Promise<void> {
  const reference = { ...referenceOf(given), breakGlassId: requireId(values.member, 'mem') }
  await enforceConnection(given.parts, operator, reference)
  print(values.json, reference, [`Members come in by ${reference.id} alone, and ${reference.breakGlassId} without it.`])
}

async function relax({ values, ...given }: Given): Promise<void> {
  const reference = referenceOf(given)
  await relaxConnection(given.parts, operator, reference)
  print(values.json, reference, ['Members come in by their other ways of signing in too.'])
}

async function remove({ values, ...given }: Given): Promise<void> {
  const reference = referenceOf(given)
  await removeConnection(given.parts, operator, reference)
  print(values.json, reference, [`${reference.id} is removed, and who was signed in by it is so no more.`])
}

function explainFile({ parts, organizationId, id: file = '', values }: Given): Promise<void> {
  const id = requireId(values.connection, 'conn')
  return explain({ parts, values }, { id, organizationId, file })
}

async function attempts({ values, ...given }: Given): Promise<void> {
  const found = await listAttempts(given.parts, operator, referenceOf(given))
  const lines = found.map(({ atMs, outcome, reason, requestId }) => {
    return `${new Date(atMs).toISOString()}  ${outcome}  ${requestId}  ${reason ?? ''}`.trimEnd()
  })
  printList(values.json, 'attempts', found, lines)
}

const domainOptions = { organization: { type: 'string' }, json: { type: 'boolean', default: false } } as const
const domainWords = { add: 1, list: 0, verify: 1, trust: 1, remove: 1 }

function standingOf({ verifiedAtMs, missingSinceMs, lapsesAtMs }: Domain): string {
  if (missingSinceMs === null || lapsesAtMs === null) return verifiedAtMs === null ? 'waits' : 'verified'
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  if (verifiedAtMs === null) return `lapsed, its record is missing since ${day(missingSinceMs)}`
  return `verified until ${day(lapsesAtMs)}, its record is missing`
}

/** `odyssey domains`: which domains of e-mail addresses are an organization's own. */
export async function domainsCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options: domainOptions, words: domainWords })
  const [verb = '', name] = positionals
  if (!Object.hasOwn(domainWords, verb) || (verb !== 'list' && name === undefined)) {
    throw new UsageError('domains takes list, or add, verify, trust or remove with a name.')
  }
  await withInstallation(async (installation, config) => {
    const organizationId = readOrganizationId(values.organization, installation)
    const signIn = signInSettings(config, installation.secrets)
    const parts = { ...installation.accounts, signIn, sso: openSingleSignOn(config, () => '') }
    const known = await listDomains(parts, operator, organizationId)
    if (verb === 'list') {
      const lines = known.map((one) => `${one.id}  ${standingOf(one)}  ${one.name}`)
      return printList(values.json, 'domains', known, lines)
    }
    if (verb === 'add') {
      const id = await addDomain(parts, operator, { organizationId, name: name ?? '' })
      const { record } = await readDomain(parts, operator, { id, organizationId })
      return print(values.json, { id, record }, [
        `${id} is verified by a TXT record at ${record.name}:`,
        '',
        `  ${record.value}`,
      ])
    }
    const domain = known.find((one) => one.name === name || one.id === name)
    if (domain === undefined) throw new UsageError(`There is no domain ${name}.`)
    const change = verb === 'remove' ? removeDomain : verb === 'trust' ? trustDomain : null
    const reference = { id: domain.id, organizationId }
    await (change === null ? verifyDomain(parts, operator, reference) : change(parts, operator, reference))
    print(values.json, reference, [`${domain.name} is ${verb === 'remove' ? 'removed' : 'the organization’s own'}.`])
  })
}
