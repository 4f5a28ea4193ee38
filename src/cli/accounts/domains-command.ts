import {
  addDomain,
  listDomains,
  readDomain,
  removeDomain,
  trustDomain,
  verifyDomain,
} from '../../accounts/single-sign-on/domains.ts'
import { signInSettings } from '../../service/joins/create-management.ts'
import { openSingleSignOn } from '../../service/joins/open-single-sign-on.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { operator, print, printList, readOrganizationId, withInstallation } from './with-installation.ts'

const options = { organization: { type: 'string' }, json: { type: 'boolean', default: false } } as const
const verbs = ['add', 'list', 'verify', 'trust', 'remove']

/** `odyssey domains`: which domains of e-mail addresses are an organization's own. */
export async function domainsCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, allowPositionals: true })
  const [verb = '', name] = positionals
  if (!verbs.includes(verb) || (verb !== 'list' && name === undefined)) {
    throw new UsageError('domains takes list, or add, verify, trust or remove with a name.')
  }
  await withInstallation(async (installation, config) => {
    const organizationId = readOrganizationId(values.organization, installation)
    const signIn = signInSettings(config, installation.secrets)
    const parts = { ...installation.accounts, signIn, sso: openSingleSignOn(config, () => '') }
    const known = await listDomains(parts, operator, organizationId)
    if (verb === 'list') {
      const lines = known.map(
        ({ id, name: of, verifiedAtMs }) => `${id}  ${verifiedAtMs === null ? 'waits' : 'verified'}  ${of}`,
      )
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
