// Asks witnesses to cosign checkpoints, as C2SP's tlog-witness describes it: who has seen what was signed before refuses
// what does not go on from it.

import type { OrganizationId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import { messageOf } from '../../lib/message-of.ts'
import { proveConsistency } from '../../lib/merkle-tree.ts'
import { parseNote, readCosignatures, type Cosigner } from '../../lib/signed-note.ts'
import { appendCheckpoint } from './checkpoint-file.ts'
import { readLastCheckpoint, type SigningParts } from './sign-checkpoints.ts'
import { subtreesOf } from './tiles.ts'

export type Witness = Cosigner & {
  /** Without a slash at its end. */
  readonly url: string
}

/** Why a witness has not cosigned. */
export type WitnessFailure = {
  readonly organizationId: OrganizationId
  readonly witness: string
  readonly message: string
  /** Whether the witness has seen another audit than this one: its own word for it, and the note that it refuses. */
  readonly contradiction: { readonly note: string; readonly answer: string } | null
}

const answerMsMax = 10_000
const answerBytesMax = 65_536

/** Asks every witness for what it has not cosigned yet: of each organization the newest checkpoint. */
export async function askWitnesses(
  parts: SigningParts,
  { witnesses, file }: { readonly witnesses: readonly Witness[]; readonly file: string },
): Promise<readonly WitnessFailure[]> {
  const failures: WitnessFailure[] = []
  const logs = await parts.db.selectFrom('audit_checkpoints').select('organization_id').distinct().execute()
  for (const witness of witnesses) {
    for (const { organization_id: organizationId } of logs) {
      const failure = await askWitness(parts, { witness, organizationId, file })
      if (failure === null) continue
      const told = { organizationId, witness: witness.name, message: failure.message }
      failures.push({ ...told, contradiction: failure.contradiction })
      // What cannot be reached is not asked about the other logs too.
      if (failure.isAway) break
    }
  }
  return failures
}

type Asking = { readonly witness: Witness; readonly organizationId: OrganizationId; readonly file: string }
type Failure = Pick<WitnessFailure, 'message' | 'contradiction'> & { readonly isAway: boolean }

async function askWitness({ db, clock }: SigningParts, asking: Asking): Promise<Failure | null> {
  const { witness, organizationId, file } = asking
  const checkpoint = await readLastCheckpoint(db, organizationId)
  const seen = await readSeen(db, asking)
  if (checkpoint === null || seen >= checkpoint.size) return null
  const told = { note: checkpoint.note, size: checkpoint.size, read: subtreesOf(db, organizationId) }
  try {
    let answer = await add(witness, { ...told, oldSize: seen })
    // It knows another size than we do: after a restore, say, or when its answer was lost.
    const known = /^(0|[1-9]\d{0,14})\n?$/.exec(answer.body)?.[1]
    if (answer.status === 409 && known !== undefined) {
      if (Number(known) > checkpoint.size) return contradict(checkpoint.note, `has seen ${known} rows`, answer.body)
      answer = await add(witness, { ...told, oldSize: Number(known) })
    }
    if (answer.status === 422) return contradict(checkpoint.note, 'has seen other rows than these', answer.body)
    if (answer.status !== 200) {
      const reason = answer.body.slice(0, 200).trim()
      return { message: `The witness answered ${answer.status}: ${reason}`, contradiction: null, isAway: false }
    }
    const line = findLine(checkpoint.note, answer.body, witness)
    if (line === null)
      return { message: 'The witness answered without its cosignature.', contradiction: null, isAway: false }
    await db
      .insertInto('audit_cosignatures')
      .values({
        organization_id: organizationId,
        size: checkpoint.size,
        witness: witness.name,
        at: clock.nowMs(),
        line,
      })
      .onConflict((conflict) => conflict.columns(['organization_id', 'size', 'witness']).doUpdateSet({ line }))
      .execute()
    appendCheckpoint(file, `${checkpoint.note}${line}`)
    return null
  } catch (error) {
    return { message: `The witness was not reached: ${messageOf(error)}`, contradiction: null, isAway: true }
  }
}

function contradict(note: string, what: string, answer: string): Failure {
  const message = `The witness ${what}: the audit was changed, an older database was restored, or another one goes on from the same.`
  return { message, contradiction: { note, answer: answer.slice(0, 2_000) }, isAway: false }
}

/** The rows of the last checkpoint that a witness has cosigned, as far as is known here. */
async function readSeen(db: Database, { witness, organizationId }: Asking): Promise<number> {
  const last = await db
    .selectFrom('audit_cosignatures')
    .select('size')
    .where('organization_id', '=', organizationId)
    .where('witness', '=', witness.name)
    .orderBy('size', 'desc')
    .limit(1)
    .executeTakeFirst()
  return last?.size ?? 0
}

type Told = {
  readonly note: string
  readonly size: number
  readonly oldSize: number
  readonly read: ReturnType<typeof subtreesOf>
}

async function add({ url }: Witness, { note, size, oldSize, read }: Told) {
  const proof = oldSize === 0 ? [] : await proveConsistency(oldSize, size, read)
  const lines = [`old ${oldSize}`, ...proof.map((hash) => hash.toString('base64')), '', note]
  const { status, body } = await fetch(`${url}/add-checkpoint`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: lines.join('\n'),
    redirect: 'error',
    signal: AbortSignal.timeout(answerMsMax),
  })
  let text = ''
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece
    if (text.length > answerBytesMax) throw new Error('Its answer has no end.')
  }
  return { status, body: text }
}

/** The line of an answer that the witness has signed over the note. */
function findLine(note: string, answer: string, witness: Witness): string | null {
  const lines = answer.split('\n').filter((line) => line.startsWith('— '))
  const own = lines.find((line) => {
    const whole = parseNote(`${note}${line}\n`)
    return whole !== null && readCosignatures(whole, [witness]).valid.length > 0
  })
  return own === undefined ? null : `${own}\n`
}

/** A note with the lines that witnesses have put under it. */
export async function withCosignatures(
  db: Database,
  organizationId: OrganizationId,
  { note, size }: { readonly note: string; readonly size: number },
): Promise<string> {
  const rows = await db
    .selectFrom('audit_cosignatures')
    .select('line')
    .where('organization_id', '=', organizationId)
    .where('size', '=', size)
    .orderBy('witness')
    .execute()
  return note + rows.map(({ line }) => line).join('')
}
