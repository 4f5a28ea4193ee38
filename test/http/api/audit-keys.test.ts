import { deepEqual, equal } from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { openMemoryDatabase } from '../../harness/databases/memory-database.ts'
import { publicKeyOf } from '../../../src/lib/signed-note.ts'
import { openManagementService } from '../../harness/management-service.ts'

test('whoever has a checkpoint finds the keys that sign without a key of their own, and no organization', async () => {
  const service = await openManagementService(await openMemoryDatabase())
  try {
    const read = () => service.ask({ path: '/.well-known/odyssey-audit-keys' })
    deepEqual((await read()).body, { keys: [] })
    const texts = [1, 2].map(() => publicKeyOf(generateKeyPairSync('ed25519').privateKey).toString('base64'))
    const rows = texts.map((public_key, index) => ({ number: index + 1, public_key, created_at: 1_000 * index }))
    await service.db.insertInto('audit_keys').values(rows).execute()
    deepEqual((await read()).body, { keys: [] }, 'it is not read again for everybody who asks')
    service.clock.advance(10_000)
    const { status, body, headers } = await read()
    equal(status, 200)
    equal(headers['cache-control'], 'public, max-age=10')
    const [newest, oldest] = rows.toReversed().map(({ public_key: publicKey, created_at: at }) => {
      return { algorithm: 'Ed25519', publicKey, createdAt: new Date(at).toISOString() }
    })
    deepEqual(body, { keys: [newest, oldest] })
    equal((await service.ask({ method: 'POST', path: '/.well-known/odyssey-audit-keys' })).status, 405)
  } finally {
    await service.close()
  }
})
