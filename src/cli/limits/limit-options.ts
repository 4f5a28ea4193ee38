import { requireSubject } from '../../accounts/require-subject.ts'
import type { LimitSubject } from '../../core/limit.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { readOrganizationId, requireId } from '../accounts/with-accounts.ts'
import type { Accounts } from '../../service/joins/open-accounts.ts'
import { UsageError } from '../usage-error.ts'

const text = { type: 'string' } as const

/** The options that say whose limit or budget something is. */
export const subjectOptions = { organization: text, project: text, key: text } as const

type SubjectValues = { readonly [Name in keyof typeof subjectOptions]?: string | undefined }

/** Without `--project` and `--key` it is the organization itself. Throws for what it does not have. */
export async function readSubject(
  accounts: Accounts,
  { organization, project, key }: SubjectValues,
): Promise<{ readonly organizationId: OrganizationId; readonly subject: LimitSubject }> {
  if (project !== undefined && key !== undefined) throw new UsageError('Give --project or --key, not both.')
  const organizationId = readOrganizationId(organization, accounts)
  const asked = toSubject(organizationId, project, key)
  return { organizationId, subject: await requireSubject(accounts.db, organizationId, asked) }
}

function toSubject(organizationId: OrganizationId, project: string | undefined, key: string | undefined): LimitSubject {
  if (project !== undefined) return { kind: 'project', id: requireId(project, 'proj') }
  if (key !== undefined) return { kind: 'api-key', id: requireId(key, 'key') }
  return { kind: 'organization', id: organizationId }
}

/**
 * The whole numbers among the options, by the names of the values they set.
 *
 * Whether a number is one that can be set is decided where it is set, as for
 * the management API.
 */
export function readNumbers<Name extends string, Option extends string>(
  names: Readonly<Record<Name, Option>>,
  values: { readonly [Key in Option]?: string | undefined },
): { readonly [Key in Name]?: number } {
  const entries = Object.entries<Option>(names).flatMap(([name, option]) => {
    const given = values[option]
    return given === undefined ? [] : [[name, parseWhole(given, option)] as const]
  })
  return Object.fromEntries(entries) as { readonly [Key in Name]?: number }
}

function parseWhole(given: string, option: string): number {
  if (!/^\d{1,16}$/.test(given)) throw new UsageError(`--${option} takes a whole number, as 400000.`)
  return Number(given)
}
