import { endMemberSessions, listMemberSessions } from '../../accounts/sign-in/session-lists.ts'
import { signInSettings } from '../../service/joins/create-management.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { operator, print, printList, readOrganizationId, requireId, withInstallation } from './with-installation.ts'

const text = { type: 'string' } as const
const options = { organization: text, member: text, json: { type: 'boolean', default: false } } as const

/** `odyssey sessions`: who is signed in, and the end of it; works on the database directly, as `members` does. */
export async function sessionsCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, allowPositionals: true })
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
