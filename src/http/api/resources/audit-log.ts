import { z } from 'zod'
import { auditProofSchema, proveAuditConsistency, proveAuditRow } from '../../../accounts/transparency/audit-proof.ts'
import { readVerifiers } from '../../../accounts/transparency/known-roots.ts'
import { readLastCheckpoint } from '../../../accounts/transparency/sign-checkpoints.ts'
import { notFound } from '../../../core/permission.ts'
import { formatVerifier } from '../../../lib/signed-note.ts'
import { defineRoute, type Route } from '../route.ts'
import { auditChains, chainOf, type AuditChain } from './audit-chains.ts'

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
export const auditLogRoutes: readonly Route[] = auditChains.flatMap(routesOf)

function routesOf({ path, scope, params }: AuditChain): readonly Route[] {
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
        const { origin, size, root, note, atMs } = last
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
