import { z } from 'zod'
import type { OrganizationId } from '../../core/ids.ts'
import { chainStart } from '../../db/audit-chain.ts'
import { ChainWalk, type KnownRoot } from '../audit/chain-walk.ts'
import type { AuditEntry } from '../audit/read-audit.ts'
import { readDeletion } from '../audit/deletions.ts'
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

/** Of rows that were deleted an export has the hashes, so many a line. */
const deletedSchema = z.strictObject({
  organization: z.templateLiteral(['org_', z.string()]),
  deleted: z.strictObject({ from: z.int().min(1), hashes: z.array(z.string().regex(/^[\da-f]{64}$/)).max(4_096) }),
})

type Line = z.output<typeof entrySchema> | z.output<typeof deletedSchema>

type Chain = { readonly walk: ChainWalk; hash: string; sequence: number; deletedTo: number; told: number }

/** The roots that somebody kept, by organization. */
export type RootsByOrganization = ReadonlyMap<OrganizationId, readonly KnownRoot[]>

/**
 * Follows the chains in an exported audit, without a database or a secret: each line is one row, oldest first.
 *
 * That nothing is missing at the end can only be told where a root of so many rows is known. Throws a line's number
 * and what is wrong with it where it is no row at all.
 */
export async function verifyExport(lines: AsyncIterable<string>, known: RootsByOrganization): Promise<AuditVerdict[]> {
  const chains = new Map<OrganizationId, Chain>()
  const begin = (organization: OrganizationId): Chain => {
    const walk = new ChainWalk([], null, known.get(organization) ?? [])
    const chain = { walk, hash: chainStart, sequence: 0, deletedTo: 0, told: 0 }
    chains.set(organization, chain)
    return chain
  }
  let number = 0
  for await (const line of lines) {
    number += 1
    if (line === '') continue
    const entry = parseLine(line, number)
    const chain = chains.get(entry.organization) ?? begin(entry.organization)
    if ('deleted' in entry) addDeleted(chain, entry.deleted, number)
    else addRow(chain, entry)
  }
  for (const organization of known.keys()) if (!chains.has(organization)) begin(organization)
  return [...chains].map(([organizationId, { walk, hash, sequence, deletedTo, told }]) => {
    walk.end({ sequence, hash })
    walk.endDeleted(deletedTo, { told, signed: null })
    return { organizationId, rows: walk.rows, deleted: walk.deleted, faults: walk.faults }
  })
}

function addRow(chain: Chain, entry: z.output<typeof entrySchema>): void {
  const row = toRow(entry)
  const link = { sequence: entry.sequence, previous_hash: chain.hash }
  // A line does not say which hash it follows: it is the one of the line before.
  chain.walk.add({ ...row, ...link, hash: entry.hash })
  chain.told = Math.max(chain.told, readDeletion(row)?.through ?? 0)
  chain.hash = entry.hash
  chain.sequence = entry.sequence
}

/** The hashes of deleted rows stand before all rows, the first of them first. */
function addDeleted(chain: Chain, { from, hashes }: z.output<typeof deletedSchema>['deleted'], number: number): void {
  if (from !== chain.sequence + 1 || chain.sequence !== chain.deletedTo) {
    throw new Error(`Line ${number} has hashes of deleted rows that do not follow what stands before it.`)
  }
  for (const hash of hashes) {
    chain.sequence += 1
    chain.hash = hash
    chain.walk.addDeleted(chain.sequence, hash)
  }
  chain.deletedTo = chain.sequence
}

function parseLine(line: string, number: number): Line {
  const value = parseJson(line)
  const deleted = deletedSchema.safeParse(value)
  if (deleted.success) return deleted.data
  const parsed = entrySchema.safeParse(value)
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
