import { readAnchors, writeAnchors } from '../../accounts/audit/anchors.ts'
import { listAuditedOrganizations, readAudit, type AuditEntry } from '../../accounts/audit/read-audit.ts'
import { verifyAudit, type AuditVerdict } from '../../accounts/audit/verify-audit.ts'
import type { Config } from '../../config/schema.ts'
import type { OrganizationId } from '../../core/ids.ts'
import type { Accounts } from '../../service/joins/open-accounts.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { anchorFileIn } from '../../service/joins/audit-anchors.ts'
import { operator, requireId, withAccounts } from './with-accounts.ts'

const options = { organization: { type: 'string' }, json: { type: 'boolean', default: false } } as const

/** `odyssey audit`: who changed what, and whether that record is as it was written. */
export async function auditCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, allowPositionals: true })
  const [action] = positionals
  const named = values.organization === undefined ? null : requireId(values.organization, 'org')
  await withAccounts(async (accounts, config) => {
    if (action === 'list') await list(accounts, named, describeEntry)
    else if (action === 'export') await list(accounts, named, (entry) => JSON.stringify(entry))
    else if (action === 'verify') await verify(accounts, config, { named, asJson: values.json })
    else throw new UsageError('audit takes list, export or verify.')
  })
}

const entriesPerRead = 500

async function list(
  { apiKeys, db }: Accounts,
  named: OrganizationId | null,
  describe: (entry: AuditEntry) => string,
): Promise<void> {
  for (const organizationId of named === null ? await listAuditedOrganizations(db) : [named]) {
    let afterSequence = 0
    for (;;) {
      const entries = await readAudit(apiKeys, operator, { organizationId, afterSequence, limit: entriesPerRead })
      for (const entry of entries) console.log(describe(entry))
      const last = entries.at(-1)?.sequence ?? null
      if (last === null) break
      afterSequence = last
    }
  }
}

function describeEntry({ at, organization, actor, action, target, after }: AuditEntry): string {
  const what = after === null ? '' : `  ${JSON.stringify(after)}`
  return `${at}  ${organization}  ${actor}  ${action}  ${target}${what}`
}

type Verification = { readonly named: OrganizationId | null; readonly asJson: boolean }

/** Ends with 1 when anything is wrong. What is sound is anchored, so that it cannot be shortened from now on. */
async function verify({ db, apiKeys, secrets }: Accounts, { home }: Config, { named, asJson }: Verification) {
  const file = anchorFileIn(home, secrets)
  const { valid, damagedLines } = readAnchors(file)
  const anchored = valid.map(({ organization }) => organization)
  const everything = new Set([...(await listAuditedOrganizations(db)), ...anchored])
  const verdicts: AuditVerdict[] = []
  for (const id of named === null ? everything : [named]) verdicts.push(await verifyAudit(db, id, valid))
  const sound = new Set(
    verdicts.filter(({ faults }) => faults.length === 0).map(({ organizationId }) => organizationId),
  )
  await writeAnchors(apiKeys, file, (id) => sound.has(id))
  if (asJson) console.log(JSON.stringify({ verdicts, damagedAnchorLines: damagedLines }))
  else for (const line of describeVerdicts(verdicts, damagedLines, file.path)) console.log(line)
  if (sound.size < verdicts.length || damagedLines.length > 0) process.exitCode = 1
}

function describeVerdicts(verdicts: readonly AuditVerdict[], damagedLines: readonly number[], path: string): string[] {
  const lines = verdicts.flatMap(({ organizationId, rows, faults }) => {
    const state = faults.length === 0 ? 'as they were written' : `${faults.length} found wrong`
    return [`${organizationId}: ${rows} rows, ${state}`, ...faults.map(({ kind, message }) => `  ${kind}: ${message}`)]
  })
  return [...lines, ...damagedLines.map((line) => `${path}: line ${line} was not written by this installation.`)]
}
