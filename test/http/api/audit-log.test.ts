import { deepEqual, equal, match } from 'node:assert/strict'
import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { localKey } from '../../../src/lib/signed-note.ts'
import { signCheckpoints } from '../../../src/accounts/transparency/sign-checkpoints.ts'
import { change } from '../../../src/db/change.ts'
import { openMemoryDatabase } from '../../harness/databases/memory-database.ts'
import { openManagementService, type ManagementService } from '../../harness/management-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-audit-log-'))
const { privateKey } = generateKeyPairSync('ed25519')
const organizationId = 'org_default'
const prefix = `/api/v1/organizations/${organizationId}/audit/log`
let service: ManagementService

before(async () => {
  service = await openManagementService(await openMemoryDatabase())
  for (let made = 0; made < 600; made += 1) {
    const action = { action: 'things:change', organizationId, target: `thing ${made}` } as const
    await change(service, { kind: 'operator' }, action, (_, note) => Promise.resolve(note(null, { made })))
  }
  await sign()
})
after(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

const sign = () =>
  signCheckpoints(service, { keys: [localKey(privateKey)], name: 'log.example', file: join(folder, 'checkpoints.txt') })

async function read(path: string, key = service.key) {
  const { statusCode, headers, rawPayload } = await service.app.inject({
    method: 'GET',
    url: `${prefix}${path}`,
    headers: { authorization: `Bearer ${key}` },
  })
  return { status: statusCode, headers, bytes: rawPayload }
}

// Written from RFC 6962 and C2SP's texts, with nothing of the code that makes what is read.
const sha = (...parts: readonly Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
function rootOf(leaves: readonly Buffer[]): Buffer {
  const [first] = leaves
  if (first === undefined) return sha()
  if (leaves.length === 1) return first
  let left = 1
  while (left * 2 < leaves.length) left *= 2
  return sha(Buffer.of(1), rootOf(leaves.slice(0, left)), rootOf(leaves.slice(left)))
}
function split(bytes: Buffer, width: number): Buffer[] {
  return Array.from({ length: bytes.length / width }, (_, index) => bytes.subarray(index * width, (index + 1) * width))
}
async function readCheckpoint() {
  const { headers, bytes } = await read('/checkpoint')
  const text = bytes.toString()
  const body = text.slice(0, text.indexOf('\n\n') + 1)
  const [origin = '', size = '', root = ''] = body.split('\n')
  return { headers, text, body, origin, size: Number(size), root: Buffer.from(root, 'base64') }
}

test('the checkpoint is the note itself, signed, and is asked for anew each time', async () => {
  const { headers, text, body, origin, size } = await readCheckpoint()
  equal(headers['content-type'], 'text/plain; charset=utf-8')
  equal(headers['cache-control'], 'private, no-cache')
  equal(origin, `log.example/audit/${organizationId}`)
  equal(
    size,
    (await service.db.selectFrom('audit').select('id').where('organization_id', '=', organizationId).execute()).length,
  )
  const [, encoded = ''] = /^— \S+ (\S+)$/m.exec(text) ?? []
  const signature = Buffer.from(encoded, 'base64').subarray(4)
  equal(verify(null, Buffer.from(body), createPublicKey(privateKey), signature), true)
})

test('tiles and entries give the root that was signed, and may be kept', async () => {
  const { size, root } = await readCheckpoint()
  const leaves: Buffer[] = []
  const rows: Buffer[] = []
  for (let number = 0; number * 256 < size; number += 1) {
    const width = Math.min(256, size - number * 256)
    const name = `${String(number).padStart(3, '0')}${width === 256 ? '' : `.p/${width}`}`
    const tile = await read(`/tile/0/${name}`)
    equal(tile.status, 200)
    equal(tile.headers['content-type'], 'application/octet-stream')
    equal(tile.headers['cache-control'], 'private, max-age=31536000, immutable')
    leaves.push(...split(tile.bytes, 32))
    const entries = split((await read(`/tile/entries/${name}`)).bytes, 34)
    for (const entry of entries) equal(entry.readUInt16BE(0), 32)
    rows.push(...entries.map((entry) => entry.subarray(2)))
  }
  equal(leaves.length, size)
  deepEqual(rootOf(leaves), root)
  deepEqual(
    rows.map((row) => sha(Buffer.of(0), row)),
    leaves,
  )
  const above = await read(`/tile/1/000.p/${Math.floor(size / 256)}`)
  deepEqual(split(above.bytes, 32), [rootOf(leaves.slice(0, 256)), rootOf(leaves.slice(256, 512))])
})

test('what was not signed for, and what is no tile, is not there', async () => {
  const { size } = await readCheckpoint()
  const action = { action: 'things:change', organizationId, target: 'late' } as const
  await change(service, { kind: 'operator' }, action, () => Promise.resolve())
  const late = `002.p/${size + 1 - 512}`
  equal((await read(`/tile/0/${late}`)).status, 404)
  equal((await read(`/tile/entries/${late}`)).status, 404)
  const none = [
    '0/2',
    '0/0000',
    '0/000.p/0',
    '0/000.p/256',
    '0/x000/000',
    '0/000/',
    '0/003',
    '1/000',
    '00/000',
    '64/000',
  ]
  for (const path of [...none, '9/000.p/1', 'rows/000', '0/000.p/1/2', '0/%2e%2e/checkpoint']) {
    equal((await read(`/tile/${path}`)).status, 404, path)
  }
  await sign()
  equal((await read(`/tile/0/${late}`)).status, 200)
  equal((await read(`/tile/0/002.p/${size - 512}`)).status, 200, 'Smaller ones stay.')
})

test('nobody reads a log who may not read the audit', async () => {
  const developer = await service.createKey('developer', organizationId)
  equal((await read('/checkpoint', developer)).status, 403)
  equal((await read('/tile/0/000', developer)).status, 403)
  const auditor = await service.createKey('auditor', organizationId)
  equal((await read('/tile/0/000', auditor)).status, 200)
  match(String((await read('/tile/0/000', 'none')).status), /^401$/)
})
