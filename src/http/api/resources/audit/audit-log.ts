import { z } from 'zod'
import { parseTilePath, readLogTile } from '../../../../accounts/transparency/audit-proof.ts'
import { readLastCheckpoint } from '../../../../accounts/transparency/sign-checkpoints.ts'
import { withCosignatures } from '../../../../accounts/transparency/witnesses.ts'
import { notFound } from '../../../../core/permission.ts'
import { defineRoute, type Route } from '../../route.ts'
import { auditChains, chainOf, type AuditChain } from './audit-chains.ts'

/** What is there stays as it is, and is for whoever may read the audit alone. */
const forEver = 'private, max-age=31536000, immutable'
/** The next one may come at any moment. */
const forNow = 'private, no-cache'

const tileNames = z.strictObject({
  level: z
    .string()
    .regex(/^(?:entries|\d|[1-5]\d|6[0-3])$/)
    .describe('How many times 256 leaves a hash of the tile stands for; `entries` has what the leaves are made of.'),
  tile: z
    .string()
    .max(40)
    .describe('Which tile, in threes of digits, and how much of it: `067`, `x001/x234/067` or `067.p/5`.'),
})

/** The log of an audit as those who read transparency logs know it (C2SP's tlog-tiles), below `…/audit/log`. */
function logRoutes({ path, scope, params }: AuditChain): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${path}/log/checkpoint`,
      permission: 'audit:read',
      scope,
      summary: 'Read the newest signed checkpoint of the audit’s log, as the signed note itself',
      params,
      answer: 'bytes',
      async work({ parts: { accounts }, params: values }) {
        const last = await readLastCheckpoint(accounts.db, chainOf(values))
        if (last === null) throw notFound()
        return {
          contentType: 'text/plain; charset=utf-8',
          cacheControl: forNow,
          bytes: Buffer.from(await withCosignatures(accounts.db, chainOf(values), last)),
        }
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/log/tile/{level}/{tile}`,
      permission: 'audit:read',
      scope,
      summary: 'Read a tile of the audit’s log: 256 hashes, or the first of them',
      params: params.extend(tileNames.shape),
      answer: 'bytes',
      async work({ parts: { accounts }, principal, params: values }) {
        const { level, tile } = tileNames.parse({ level: values['level'], tile: values['tile'] })
        const place = parseTilePath(tile)
        if (place === null) throw notFound()
        const wanted = { ...place, level: level === 'entries' ? ('entries' as const) : Number(level) }
        const bytes = await readLogTile(accounts.db, principal, { organizationId: chainOf(values), tile: wanted })
        return { contentType: 'application/octet-stream', cacheControl: forEver, bytes }
      },
    }),
  ]
}

export const auditLogRoutes: readonly Route[] = auditChains.flatMap(logRoutes)
