import type { LimitSubject } from '../../core/limit.ts'
import type { Installation } from '../../service/joins/open-installation.ts'
import { readOrganizationId, requireId } from '../accounts/with-installation.ts'
import { UsageError } from '../usage-error.ts'
import type { SubjectReference } from '../../limits/settings/setting.ts'

const text = { type: 'string' } as const

/** The options that say whose limit or budget something is. */
export const subjectOptions = { organization: text, project: text, key: text } as const

type SubjectValues = { readonly [Name in keyof typeof subjectOptions]?: string | undefined }

/** Reads whose limit it is: without `--project` and `--key` that of the organization itself. */
export function readSubject(
  installation: Installation,
  { organization, project, key }: SubjectValues,
): SubjectReference {
  if (project !== undefined && key !== undefined) throw new UsageError('Give --project or --key, not both.')
  const organizationId = readOrganizationId(organization, installation)
  const subject = ((): LimitSubject => {
    if (project !== undefined) return { kind: 'project', id: requireId(project, 'proj') }
    if (key !== undefined) return { kind: 'api-key', id: requireId(key, 'key') }
    return { kind: 'organization', id: organizationId }
  })()
  return { organizationId, subject }
}
