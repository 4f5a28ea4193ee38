import { z } from 'zod'
import type { OrganizationId } from '../../core/ids.ts'
import { chainStart } from '../../db/audit-chain.ts'
import { ChainWalk, type KnownRoot } from '../audit/chain-walk.ts'
import type { AuditEntry } from '../audit/read-audit.ts'
import type { AuditVerdict } from '../audit/verify-audit.ts'
import { parseJson } from '../../lib/json/parse-json.ts'

const entrySchema: z.ZodType<AuditEntry & { readonly sequence: number; readonly hash: string }> = z.strictObject({
  id: z.string(),
  sequence: z.int().min(1),
  at: z.iso.datetime(),
  organization: z.templateLiteral(['org_', z.string()]),
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  before: z.unknown(),
  after: z.unknown(),
  address: z.string().nullable(),
  requestId: z.string().nullable(),
  hash: z.string(),
})

/** The roots that somebody kept, by organization. */
export type RootsByOrganization = ReadonlyMap<OrganizationId, readonly KnownRoot[]>

/**
 * Follows the chains in an exported audit, without a database or a secret: each line is one row, oldest first.
 *
 * That nothing is missing at the end can only be told where a root of so many rows is known. Throws a line's number
 * and what is wrong with it where it is no row at all.
 */
export async function verifyExport(lines: AsyncIterable<string>, known: RootsByOrganization): Promise<AuditVerdict[]> {
  const walks = new Map<OrganizationId, { readonly walk: ChainWalk; hash: string; sequence: number }>()
  let number = 0
  for await (const line of lines) {
    number += 1
    if (line === '') continue
    const entry = parseLine(line, number)
    const chain = walks.get(entry.organization) ?? {
      walk: new ChainWalk([], null, known.get(entry.organization) ?? []),
      hash: chainStart,
      sequence: 0,
    }
    walks.set(entry.organization, chain)
    const row = toRow(entry)
    const link = { sequence: entry.sequence, previous_hash: chain.hash }
    // A line does not say which hash it follows: it is the one of the line before.
    chain.walk.add({ ...row, ...link, hash: entry.hash })
    chain.hash = entry.hash
    chain.sequence = entry.sequence
  }
  for (const [organization, roots] of known) {
    if (walks.has(organization)) continue
    walks.set(organization, { walk: new ChainWalk([], null, roots), hash: chainStart, sequence: 0 })
  }
  return [...walks].map(([organizationId, { walk, hash, sequence }]) => {
    walk.end({ sequence, hash })
    return { organizationId, rows: walk.rows, faults: walk.faults }
  })
}

function parseLine(line: string, number: number): AuditEntry & { readonly sequence: number; readonly hash: string } {
  const parsed = entrySchema.safeParse(parseJson(line))
  if (parsed.success) return parsed.data
  throw new Error(`Line ${number} is no row of an audit: ${parsed.error.issues[0]?.path.join('.') ?? ''}.`)
}

function toRow({ id, at, organization, actor, action, target, before, after, address, requestId }: AuditEntry) {
  return {
    id,
    at: Date.parse(at),
    organization_id: organization,
    actor,
    action,
    target,
    before: before === null ? null : JSON.stringify(before),
    after: after === null ? null : JSON.stringify(after),
    address,
    request_id: requestId,
  }
}
