import { deepEqual, equal, match, ok, throws } from 'node:assert/strict'
import { createHash, createPublicKey, generateKeyPairSync, sign, verify, type KeyObject } from 'node:crypto'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, beforeEach, suite, test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { createManualClock, type ManualClock } from '../../../test/harness/manual-clock.ts'
import { createWitness, WitnessBook } from '../../cli/accounts/witness-command.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { change } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import { openMemoryDatabase } from '../../../test/harness/databases/memory-database.ts'
import {
  formatVerifier,
  hasQuorum,
  parseCosigner,
  parseNote,
  publicKeyOf,
  readCosignatures,
  localKey,
} from '../../lib/signed-note.ts'
import { findProofFault, proveAuditRow } from './audit-proof.ts'
import { checkpointFileIn, parseCheckpoints } from './checkpoint-file.ts'
import { readWitnessed } from './known-roots.ts'
import { readLastCheckpoint, signCheckpoint, type Signing } from './sign-checkpoints.ts'
import { askWitnesses, withCosignatures, type Witness } from './witnesses.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-witnesses-'))
after(() => rmSync(folder, { recursive: true }))

const operator = { kind: 'operator' } as const
const organizationId: OrganizationId = 'org_tested'
const origin = `log.example/audit/${organizationId}`
const { privateKey } = generateKeyPairSync('ed25519')
const logKey = { name: origin, publicKey: publicKeyOf(privateKey) }

type Answer = { readonly status: number; readonly contentType?: string; readonly body: string }
type TestedWitness = { readonly key: string; add(body: string): Answer }

const sha = (...parts: readonly Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest()

/** A witness of one log that is written from C2SP's texts and RFC 9162, with nothing of the code that it is asked by. */
function createTextWitness(): TestedWitness {
  const { privateKey: own, publicKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
  const name = 'text.example/w1'
  const number = sha(Buffer.from(`${name}\n`), Buffer.of(4), raw).subarray(0, 4)
  let seen = { size: 0, root: sha() }
  return {
    key: `${name}+${number.toString('hex')}+${Buffer.concat([Buffer.of(4), raw]).toString('base64')}`,
    add(body) {
      const [head = '', text = '', signatures = ''] = body.split('\n\n')
      const [old = '', ...proofLines] = head.split('\n')
      const [log = '', size = '', root = ''] = text.split('\n')
      if (log !== origin) return { status: 404, body: '' }
      const line = signatures.split('\n').find((one) => one.startsWith(`— ${origin} `)) ?? ''
      const signature = Buffer.from(line.split(' ')[2] ?? '', 'base64').subarray(4)
      if (!verify(null, Buffer.from(`${text}\n`), createPublicKey(privateKey), signature))
        return { status: 403, body: '' }
      const oldSize = Number(/^old (\d+)$/.exec(old)?.[1])
      if (oldSize !== seen.size) return { status: 409, contentType: 'text/x.tlog.size', body: `${seen.size}\n` }
      const next = { size: Number(size), root: Buffer.from(root, 'base64') }
      const proof = proofLines.map((one) => Buffer.from(one, 'base64'))
      if (!goesOn(seen, next, proof)) return { status: 422, body: 'Something else was seen.\n' }
      seen = next
      const seconds = 1_700_000_000 + seen.size
      const time = Buffer.alloc(8)
      time.writeBigUInt64BE(BigInt(seconds))
      const signed = sign(null, Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}\n`), own)
      const other = `— other.example/w ${Buffer.alloc(76, 1).toString('base64')}\n`
      return { status: 200, body: `${other}— ${name} ${Buffer.concat([number, time, signed]).toString('base64')}\n` }
    },
  }
}

type Seen = { readonly size: number; readonly root: Buffer }

/** RFC 9162, section 2.1.4.2. */
function goesOn(first: Seen, second: Seen, given: readonly Buffer[]): boolean {
  if (first.size === 0) return given.length === 0
  if (first.size === second.size) return given.length === 0 && first.root.equals(second.root)
  const path = Number.isInteger(Math.log2(first.size)) ? [first.root, ...given] : [...given]
  let [fn, sn] = [first.size - 1, second.size - 1]
  while (fn % 2 === 1) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)]
  const [start, ...rest] = path
  if (start === undefined) return false
  let [fr, sr] = [start, start]
  for (const hash of rest) {
    if (sn === 0) return false
    if (fn % 2 === 1 || fn === sn) {
      fr = sha(Buffer.of(1), hash, fr)
      sr = sha(Buffer.of(1), hash, sr)
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)]
    } else {
      sr = sha(Buffer.of(1), sr, hash)
    }
    ;[fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)]
  }
  return sn === 0 && fr.equals(first.root) && sr.equals(second.root)
}

function createOwnWitness(clock: ManualClock): TestedWitness {
  const home = mkdtempSync(join(folder, 'witness-'))
  const key = createWitness(home, 'own.example/w1')
  appendFileSync(join(home, 'logs.txt'), `${formatVerifier(logKey)}\n`)
  // Each answer is from another process, so to say: what was seen stands in the folder.
  return { key, add: (body) => new WitnessBook(home, clock).add(body) }
}

onEachDatabase((database) => {
  for (const kind of ['written from the specification', 'of our own'] as const) {
    suite(`with a witness ${kind}`, () => {
      let db: Database
      let clock: ManualClock
      let signing: Signing
      let tested: TestedWitness
      let server: Server
      let witness: Witness

      beforeEach(async () => {
        db = await database.open()
        clock = createManualClock()
        signing = newSigning()
        tested = kind === 'of our own' ? createOwnWitness(clock) : createTextWitness()
        server = createServer((request, response) => {
          let body = ''
          request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
          request.on('end', () => {
            const answer = tested.add(body)
            response.writeHead(answer.status, { 'content-type': answer.contentType ?? 'text/plain' }).end(answer.body)
          })
        })
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
        const cosigner = parseCosigner(tested.key)
        if (cosigner === null) throw new Error('This is no key of a witness.')
        witness = { ...cosigner, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
      })
      afterEach(async () => {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
        await db.destroy()
      })

      const newSigning = (): Signing => {
        return {
          keys: [localKey(privateKey)],
          name: 'log.example',
          file: checkpointFileIn(mkdtempSync(join(folder, 'home-'))),
        }
      }
      const addTo = async (to: Database, count: number, word = 'thing') => {
        const action = { action: 'things:change', organizationId, target: word }
        for (let made = 0; made < count; made += 1) {
          await change({ db: to, clock }, operator, action, (_, note) => Promise.resolve(note(null, { made })))
        }
        equal(await signCheckpoint({ db: to, clock }, signing, organizationId), null)
      }
      const ask = (of: Database = db) => askWitnesses({ db: of, clock }, { witnesses: [witness], file: signing.file })
      const quorum = () => ({ cosigners: [witness], count: 1 })
      const noteNow = async () => {
        const last = await readLastCheckpoint(db, organizationId)
        if (last === null) throw new Error('Nothing was signed.')
        return withCosignatures(db, organizationId, last)
      }

      test('it cosigns each checkpoint that goes on from the one before, and readers see it', async () => {
        for (const count of [1, 2, 5, 1, 300]) {
          await addTo(db, count)
          deepEqual(await ask(), [])
          const note = parseNote(await noteNow())
          ok(note !== null && hasQuorum(note, quorum()))
        }
        deepEqual(await ask(), [], 'It is not asked twice for the same.')
        deepEqual(await readWitnessed(db, organizationId, quorum()), { size: 309, forged: [] })
        const kept = parseCheckpoints(readFileSync(signing.file, 'utf8'), [logKey], quorum())
        deepEqual(
          kept.map(({ size }) => size),
          [1, 3, 8, 9, 309],
        )
        const [first] = await db.selectFrom('audit').select('id').orderBy('sequence').limit(1).execute()
        const proof = await proveAuditRow(db, operator, { organizationId, rowId: first?.id ?? '' })
        equal(findProofFault(proof, logKey), null)
        const proven = parseNote(proof.checkpoint)
        ok(proven !== null && hasQuorum(proven, quorum()))
      })

      test('an answer that was lost is asked for again, with what the witness says that it has seen', async () => {
        await addTo(db, 5)
        deepEqual(await ask(), [])
        await db.deleteFrom('audit_cosignatures').execute()
        deepEqual(await ask(), [])
        equal((await readWitnessed(db, organizationId, quorum())).size, 5)
        await db.deleteFrom('audit_cosignatures').execute()
        await addTo(db, 4)
        deepEqual(await ask(), [])
        equal((await readWitnessed(db, organizationId, quorum())).size, 9)
      })

      test('of two databases that go on differently from the same, it cosigns one and tells of the other', async () => {
        await addTo(db, 4)
        deepEqual(await ask(), [])
        const clone = await openMemoryDatabase()
        try {
          for (const table of [
            'audit',
            'audit_chains',
            'audit_logs',
            'audit_tiles',
            'audit_checkpoints',
            'audit_cosignatures',
          ] as const) {
            const rows = await db.selectFrom(table).selectAll().execute()
            await clone
              .insertInto(table)
              .values(rows as never)
              .execute()
          }
          await addTo(db, 3, 'here')
          deepEqual(await ask(), [])
          signing = newSigning()
          await addTo(clone, 3, 'there')
          const [same] = await ask(clone)
          match(same?.message ?? '', /has seen other rows/)
          await addTo(clone, 2, 'there')
          const [longer] = await ask(clone)
          match(longer?.message ?? '', /has seen other rows/)
          const last = await readLastCheckpoint(clone, organizationId)
          equal(longer?.contradiction?.note, last?.note)
          if (kind === 'of our own') match(longer?.contradiction?.answer ?? '', new RegExp(`${origin}\n7\n`))
          equal((await readWitnessed(clone, organizationId, quorum())).size, 4)
        } finally {
          await clone.destroy()
        }
      })

      test('an older database is told of, since the witness has seen more', async () => {
        await addTo(db, 9)
        deepEqual(await ask(), [])
        const older = await openMemoryDatabase()
        signing = newSigning()
        await addTo(older, 4)
        const [failure] = await ask(older)
        match(failure?.message ?? '', /has seen 9 rows/)
        ok(failure?.contradiction !== null)
        await older.destroy()
      })

      test('a witness that is away or does not know the log is asked again later', async () => {
        await addTo(db, 2)
        const { key, add } = tested
        tested = { key, add: () => ({ status: 404, body: 'unknown' }) }
        const [unknown] = await ask()
        match(unknown?.message ?? '', /answered 404: unknown/)
        equal(unknown?.contradiction, null)
        tested = {
          key,
          add: () => ({ status: 200, body: `— ${witness.name} ${Buffer.alloc(76).toString('base64')}\n` }),
        }
        match((await ask())[0]?.message ?? '', /without its cosignature/)
        const away = { ...witness, url: 'http://127.0.0.1:1' }
        const [failure] = await askWitnesses({ db, clock }, { witnesses: [away], file: signing.file })
        match(failure?.message ?? '', /was not reached/)
        tested = { key, add }
        deepEqual(await ask(), [])
      })

      test('a line that the witness has not signed is told, and counts for nothing', async () => {
        await addTo(db, 2)
        deepEqual(await ask(), [])
        const note = await noteNow()
        const forged = parseNote(note)
        ok(forged !== null)
        const own = forged.signatures.find(({ name }) => name === witness.name)
        own?.signature.writeUInt8(own.signature.readUInt8(20) ^ 1, 20)
        deepEqual(readCosignatures(forged, [witness]).forged, [witness])
        equal(hasQuorum(forged, quorum()), false)
        const [, line = ''] = /^(— \S+w1 .*\n)/m.exec(note) ?? []
        await addTo(db, 1)
        await db
          .insertInto('audit_cosignatures')
          .values({ organization_id: organizationId, size: 3, witness: witness.name, at: 0, line })
          .execute()
        deepEqual(await readWitnessed(db, organizationId, quorum()), { size: 2, forged: [3] })
      })
    })
  }
})

suite('a witness of our own', () => {
  const clock = createManualClock()
  const logs = (home: string) => appendFileSync(join(home, 'logs.txt'), `${formatVerifier(logKey)}\n`)
  const note = (text: string, key: KeyObject = privateKey) => {
    const number = sha(Buffer.from(`${origin}\n`), Buffer.of(1), publicKeyOf(privateKey)).subarray(0, 4)
    const line = Buffer.concat([number, sign(null, Buffer.from(text), key)]).toString('base64')
    return `${text}\n— ${origin} ${line}\n`
  }
  const checkpoint = (size: number, root = Buffer.alloc(32, 7)) => `${origin}\n${size}\n${root.toString('base64')}\n`

  test('answers as the specification wants it', () => {
    const home = mkdtempSync(join(folder, 'witness-'))
    createWitness(home, 'own.example/w2')
    const book = new WitnessBook(home, clock)
    const add = (body: string) => book.add(body).status
    equal(add(`old 0\n\n${note(checkpoint(3))}`), 404, 'no log is known yet')
    logs(home)
    equal(add('nothing'), 400)
    equal(add(`old 00\n\n${note(checkpoint(3))}`), 400)
    equal(add(`old 4\n\n${note(checkpoint(3))}`), 400)
    equal(add(`old 0\n${'A'.repeat(43)}=\n\n${note(checkpoint(3))}`), 422)
    equal(add(`old 0\n${`${'A'.repeat(43)}=\n`.repeat(64)}\n${note(checkpoint(3))}`), 400)
    equal(add(`old 0\n\n${note(checkpoint(3), generateKeyPairSync('ed25519').privateKey)}`), 403)
    equal(add(`old 0\n\n${note(checkpoint(0))}`), 422, 'an empty log has one root')
    equal(add(`old 0\n\n${note(checkpoint(3))}`), 200)
    deepEqual(book.add(`old 0\n\n${note(checkpoint(3))}`), {
      status: 409,
      contentType: 'text/x.tlog.size',
      body: '3\n',
    })
    equal(add(`old 3\n\n${note(checkpoint(3))}`), 200)
    equal(add(`old 3\n\n${note(checkpoint(3, Buffer.alloc(32, 8)))}`), 422)
    equal(add(`old 3\n\n${note(checkpoint(5))}`), 422)
  })

  test('does not start when it has forgotten what it saw, and is not made twice in one folder', () => {
    const home = mkdtempSync(join(folder, 'witness-'))
    throws(() => new WitnessBook(home, clock), /is not whole/)
    createWitness(home, 'own.example/w3')
    throws(() => createWitness(home, 'own.example/w3'), /has a witness already/)
    rmSync(join(home, 'seen'), { recursive: true })
    throws(() => new WitnessBook(home, clock), /is not whole/)
    throws(() => createWitness(mkdtempSync(join(folder, 'witness-')), 'a name'), /is named without spaces/)
  })
})
