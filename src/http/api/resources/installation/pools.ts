import { z } from 'zod'
import { notFound } from '../../../../core/permission.ts'
import { change, installationChain } from '../../../../db/change.ts'
import { defineRoute, type Route } from '../../route.ts'
import { nowhere } from '../../schemas.ts'
import { poolsAnswer } from './pool-schemas.ts'

const drainBody = z.strictObject({
  address: z.string().min(1).max(1_000).describe('As the config file has it.'),
  drain: z.boolean().describe('False gives it requests again.'),
})

export const poolRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/pools',
    permission: 'engines:read',
    scope: 'installation',
    summary: 'Show the pools and their replicas: how each is, why one is given nothing, and what it has to do',
    params: nowhere,
    answer: poolsAnswer,
    work: ({ parts: { management } }) => Promise.resolve({ data: management.pools.list() }),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/pools/{pool}/drain',
    permission: 'engines:update',
    scope: 'installation',
    needsProof: true,
    summary: 'Give a replica nothing more, or requests again; what it has it finishes',
    example: { address: 'http://10.0.0.4:8000', drain: true },
    params: z.strictObject({ pool: z.string().min(1).max(64) }),
    body: drainBody,
    answer: poolsAnswer,
    async work({ parts: { accounts, management }, principal, params: { pool }, body: { address, drain } }) {
      const found = management.pools.list().find(({ name }) => name === pool)
      const member = found?.replicas.find((one) => one.address === address)
      if (member === undefined) throw notFound()
      const action = {
        action: 'engines:update',
        organizationId: installationChain,
        target: `${pool} ${address}`,
      } as const
      await change(accounts, principal, action, (_transaction, note) => {
        note({ draining: member.state === 'draining' }, { draining: drain })
        return Promise.resolve()
      })
      management.pools.drain(pool, address, drain)
      return { data: management.pools.list() }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/pools/{pool}/roll',
    permission: 'engines:update',
    scope: 'installation',
    needsProof: true,
    summary: 'Replace the replicas that the service starts, one after another, by what the config file has now',
    params: z.strictObject({ pool: z.string().min(1).max(64) }),
    answer: poolsAnswer,
    async work({ parts: { accounts, management }, principal, params: { pool } }) {
      const found = management.pools.list().find(({ name }) => name === pool)
      if (found === undefined || found.replicas.every(({ restarts }) => restarts === null)) throw notFound()
      const action = { action: 'engines:update', organizationId: installationChain, target: pool } as const
      await change(accounts, principal, action, (_transaction, note) => {
        note({ replacing: false }, { replacing: true })
        return Promise.resolve()
      })
      management.pools.roll(pool)
      return { data: management.pools.list() }
    },
  }),
]
