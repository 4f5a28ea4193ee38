import { z } from 'zod'
import type { ChainPosition } from '../../../../accounts/audit/chain-walk.ts'
import { listAudit, nameActors, readDeletedEntries, readWholeAudit } from '../../../../accounts/audit/read-audit.ts'
import { type AuditVerdict, verifyAuditPart } from '../../../../accounts/audit/verify-audit.ts'
import type { OrganizationId } from '../../../../core/ids.ts'
import type { Principal } from '../../../../core/principal.ts'
import { decodeNumbers, encodeCursor, noCursor } from '../../cursor.ts'
import { exportFormat, type ExportFormat, writeExport } from '../../export.ts'
import { defineRoute, type Route, type RouteParts } from '../../route.ts'
import { given, givenTime, pageOf, pageQuery } from '../../schemas.ts'
import { type AuditChain, auditChains, chainOf } from './audit-chains.ts'
import {
  auditProofSchema,
  proveAuditConsistency,
  proveAuditRow,
} from '../../../../accounts/transparency/audit-proof.ts'
import { readVerifiers } from '../../../../accounts/transparency/known-roots.ts'
import { readLastCheckpoint } from '../../../../accounts/transparency/sign-checkpoints.ts'
import { withCosignatures } from '../../../../accounts/transparency/witnesses.ts'
import { notFound } from '../../../../core/permission.ts'
import { formatVerifier } from '../../../../lib/signed-note.ts'

const saved = z.strictObject({
  id: z.string(),
  sequence: z.int().nullable().describe('Its place in the chain, from 1.'),
  at: z.string(),
  organization: z.string(),
  actor: z.string().describe('The id of a member or key, or `operator` for the machine’s command line.'),
  action: z.string(),
  target: z.string(),
  before: z.unknown().describe('The fields that changed, as they were.'),
  after: z.unknown().describe('The fields that changed, as they are.'),
  address: z.string().nullable(),
  requestId: z.string().nullable(),
  hash: z.string().nullable(),
})
/** As it is saved, which is what its hash is of, and beside it who that was. */
const entry = saved
  .extend({ actorName: z.string().nullable().describe('What the actor is called now; null for who has no name here.') })
  .meta({ id: 'AuditEntry' })

const verdict = z
  .strictObject({
    rows: z.int().describe('Checked in this part.'),
    deleted: z
      .int()
      .describe('Rows of this part of which the hash alone is left, since they were deleted for their age.'),
    isIntact: z.boolean(),
    faults: z.array(z.strictObject({ kind: z.string(), sequence: z.int().nullable(), message: z.string() })),
    damagedAnchorLines: z.array(z.int()).describe('Lines of the anchor file that this service has not written.'),
    next: z.string().nullable().describe('Give it as `after` to check the next part; null after the last one.'),
    through: z
      .string()
      .nullable()
      .describe('Where this part ended. Kept, and given as `after` later on, it checks what was added since.'),
  })
  .meta({ id: 'AuditVerdict' })

const search = pageQuery.extend({
  actor: z.string().max(100).optional(),
  action: z.string().max(100).optional(),
  target: z.string().max(100).optional(),
  from: givenTime.optional(),
  to: givenTime.optional().describe('Left out itself.'),
})

/** Checking so many takes about a tenth of a second of a processor. */
const rowsPerPartMax = 10_000
const part = z.strictObject({
  limit: z.int().min(1).max(rowsPerPartMax).default(rowsPerPartMax).describe('Rows to check.'),
  after: pageQuery.shape.after,
})

type Reading = { readonly parts: RouteParts; readonly principal: Principal; readonly organizationId: OrganizationId }

/** Whoever checks an export needs the hashes of deleted rows; a table has no place for them. */
async function* readAll({ parts: { accounts }, principal, organizationId }: Reading, format: ExportFormat) {
  const deleted = format === 'csv' ? [] : readDeletedEntries(accounts, principal, organizationId)
  for await (const part of deleted) yield [part]
  yield* readWholeAudit(accounts, principal, organizationId)
}

function toMs(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text)
}

function recordRoutes({ path, scope, params, of }: AuditChain): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path,
      permission: 'audit:read',
      scope,
      isNoted: true,
      summary: `List what was done ${of}, newest first`,
      params,
      query: search,
      answer: pageOf(entry),
      async work({ parts, principal, params: values, query: { limit, after, from, to, ...exact } }) {
        const times = { fromMs: toMs(from), toMs: toMs(to) }
        const beforeSequence = after === undefined ? null : (decodeNumbers(after, 1)[0] ?? 0)
        const place = { organizationId: chainOf(values), beforeSequence, limit: limit + 1 }
        const found = await listAudit(parts.accounts, principal, { ...place, ...given({ ...exact, ...times }) })
        const last = found.length > limit ? found[limit - 1] : undefined
        const next = last === undefined ? null : encodeCursor(last.sequence ?? 0)
        const listed = found.slice(0, limit)
        const names = await nameActors(parts.accounts, place.organizationId, listed)
        return { data: listed.map((one) => ({ ...one, actorName: names.get(one.actor) ?? null })), next }
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/export`,
      permission: 'audit:read',
      scope,
      summary: `Save all that was done ${of} as CSV or JSON lines, oldest first`,
      params,
      query: z.strictObject({ format: exportFormat.default('jsonl') }),
      answer: 'export',
      work({ parts, principal, params: values, query: { format } }) {
        const pages = readAll({ parts, principal, organizationId: chainOf(values) }, format)
        return Promise.resolve(writeExport(format, { name: 'audit', columns: Object.keys(saved.shape), pages }))
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/verify`,
      permission: 'audit:read',
      scope,
      summary: `Check a part of the record of what was done ${of}, from its begin or from where another part ended`,
      params,
      query: part,
      answer: verdict,
      async work({ parts, params: values, query: { limit, after } }) {
        const { valid, damagedLines } = await parts.management.readAnchors()
        const range = { anchors: valid, after: after === undefined ? null : decodeCursor(after), rowsMax: limit }
        const found = await verifyAuditPart(parts.accounts.db, chainOf(values), range)
        const end = found.through === null ? (after ?? null) : encodeCursor(found.through.sequence, found.through.hash)
        return { ...toVerdict(found, damagedLines), next: found.isComplete ? null : end, through: end }
      },
    }),
  ]
}

function toVerdict({ rows, deleted, faults }: AuditVerdict, damagedLines: readonly number[]) {
  const isIntact = faults.length === 0 && damagedLines.length === 0
  return { rows, deleted, isIntact, faults: [...faults], damagedAnchorLines: [...damagedLines] }
}

function decodeCursor(cursor: string): ChainPosition {
  const [, sequence, hash] = /^([1-9]\d{0,14}) ([\da-f]{64})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (sequence === undefined || hash === undefined) throw noCursor()
  return { sequence: Number(sequence), hash }
}

const checkpoint = z
  .strictObject({
    origin: z.string().describe('The name of the log.'),
    size: z.int().describe('The rows that were signed for.'),
    root: z.string().describe('The root of the Merkle tree over their hashes (RFC 6962), in base64.'),
    at: z.string(),
    note: z
      .string()
      .describe('The signed note, as Go’s `sumdb/note` reads it. Keep it: the log has to begin with it ever after.'),
    verifiers: z.array(z.string()).describe('The keys that sign, the newest first.'),
  })
  .meta({ id: 'AuditCheckpoint' })

const consistency = z
  .strictObject({
    from: z.int(),
    to: z.int(),
    proof: z.array(z.string()).describe('Hashes in base64, as RFC 6962 orders them.'),
  })
  .meta({ id: 'AuditConsistency' })

const sizes = z.strictObject({
  from: z.int().min(1).describe('The size of the older checkpoint.'),
  to: z.int().min(1).describe('The size of the newer one.'),
})

/** What shows that the audit is the one that was signed for, for whoever does not trust this service. */
function proofRoutes({ path, scope, params }: AuditChain): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${path}/checkpoint`,
      permission: 'audit:read',
      scope,
      summary: 'Read the newest signed checkpoint of the audit',
      params,
      answer: checkpoint,
      async work({ parts: { accounts }, params: values }) {
        const last = await readLastCheckpoint(accounts.db, chainOf(values))
        if (last === null) throw notFound()
        const verifiers = (await readVerifiers(accounts.db, chainOf(values))).map(formatVerifier)
        const { origin, size, root, atMs } = last
        const note = await withCosignatures(accounts.db, chainOf(values), last)
        return { origin, size, root: root.toString('base64'), at: new Date(atMs).toISOString(), note, verifiers }
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/consistency`,
      permission: 'audit:read',
      scope,
      summary: 'Prove that a newer checkpoint of the audit begins with an older one',
      params,
      query: sizes,
      answer: consistency,
      async work({ parts: { accounts }, principal, params: values, query }) {
        const proof = await proveAuditConsistency(accounts.db, principal, { organizationId: chainOf(values), ...query })
        return { ...proof, proof: [...proof.proof] }
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/{rowId}/proof`,
      permission: 'audit:read',
      scope,
      summary: 'Prove that a row stands in the audit, for whoever has a key of the log and nothing else',
      params: params.extend({ rowId: z.string().max(100) }),
      answer: auditProofSchema,
      work({ parts: { accounts }, principal, params: values }) {
        const rowId = String((values as Record<string, unknown>)['rowId'])
        return proveAuditRow(accounts.db, principal, { organizationId: chainOf(values), rowId })
      },
    }),
  ]
}

export const auditRoutes: readonly Route[] = auditChains.flatMap((chain) => [
  ...recordRoutes(chain),
  ...proofRoutes(chain),
])
