import { createHash } from 'node:crypto'
import { lockChainEnd } from '../../db/audit-chain.ts'
import { installationChain, change, type ChangeParts } from '../../db/change.ts'
import { addSink, dropSink, type NewSink } from './sinks.ts'
import { openTarget, readTarget, sealTarget } from './sink-target.ts'

/** A sink as the config file asks for it, with its files and variables read. */
export type DeclaredSink = Omit<NewSink, 'organizationId'>

type Parts = ChangeParts & { readonly alertKey: Uint8Array }

const operator = { kind: 'operator' } as const

/**
 * Makes the installation's sinks those that the config file names, by their names. One whose target has changed goes on
 * where it was; one that is no longer named is removed. Every change is in the audit.
 */
export async function declareSinks(parts: Parts, declared: readonly DeclaredSink[]): Promise<void> {
  const rows = await parts.db.selectFrom('audit_sinks').selectAll().where('is_configured', '=', 1).execute()
  const known = new Map(rows.map((row) => [row.id, row]))
  const wanted = new Map(declared.map((sink) => [idOf(sink.name), sink]))
  for (const { id } of rows) if (!wanted.has(id)) await drop(parts, id)
  for (const [id, sink] of wanted) {
    const before = known.get(id)
    if (before?.kind === sink.kind) {
      await adjust(parts, before, sink)
      continue
    }
    if (before !== undefined) await drop(parts, id)
    await add(parts, id, sink)
  }
}

/** Another gateway that starts at this moment may add it first; then it is there. */
async function add(parts: Parts, id: string, sink: DeclaredSink): Promise<void> {
  try {
    await addSink(parts, operator, { ...sink, organizationId: installationChain, id, isConfigured: true })
  } catch (error) {
    const found = await findConfigured(parts, id)
    if (found === undefined) throw error
    await adjust(parts, found, sink)
  }
}

/** Another gateway that starts at this moment may remove it first; then it is gone. */
async function drop(parts: Parts, id: string): Promise<void> {
  try {
    await dropSink(parts, operator, { organizationId: installationChain, id })
  } catch (error) {
    if ((await findConfigured(parts, id)) !== undefined) throw error
  }
}

function findConfigured({ db }: Parts, id: string) {
  return db.selectFrom('audit_sinks').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The same name is the same sink after every start, and in every gateway. */
function idOf(name: string): string {
  return `sink_config_${createHash('sha256').update(name).digest('hex').slice(0, 24)}`
}

type Row = Parameters<typeof openTarget>[1] & { readonly format: NewSink['format']; readonly shown_target: string }

async function adjust(parts: Parts, before: Row, sink: DeclaredSink): Promise<void> {
  const was = openTarget(parts.alertKey, before)
  const { target, shown } = readTarget(sink.kind, sink)
  if (JSON.stringify(target) === JSON.stringify(was) && sink.format === before.format) return
  const action = { action: 'audit-sinks:update', organizationId: installationChain, target: before.id }
  await change(parts, operator, action, async (transaction, note) => {
    await lockChainEnd(transaction, installationChain)
    await transaction
      .updateTable('audit_sinks')
      .set({ format: sink.format, shown_target: shown, sealed: sealTarget(parts.alertKey, before.id, target) })
      .set({ next_attempt_at: 0, failures: 0 })
      .where('id', '=', before.id)
      .execute()
    note({ format: before.format, target: before.shown_target }, { format: sink.format, target: shown })
  })
}
