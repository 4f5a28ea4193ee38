import { createReadStream, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { z } from 'zod'
import { readAnchorsInForce, writeAnchors } from '../../accounts/audit/anchors.ts'
import {
  type AuditEntry,
  listAuditedOrganizations,
  readDeletedEntries,
  readWholeAudit,
} from '../../accounts/audit/read-audit.ts'
import { deleteOldAuditRows } from '../../accounts/audit/delete-old-rows.ts'
import { type AuditVerdict, describeVerdict, verifyAudit } from '../../accounts/audit/verify-audit.ts'
import { checkpointFileIn, parseCheckpoints } from '../../accounts/transparency/checkpoint-file.ts'
import { readSignedRoots, readVerifiers, readWitnessed } from '../../accounts/transparency/known-roots.ts'
import { acceptRestore, readLastCheckpoint, signCheckpoint } from '../../accounts/transparency/sign-checkpoints.ts'
import type { Config } from '../../config/schema.ts'
import type { OrganizationId } from '../../core/ids.ts'
import type { Installation } from '../../service/joins/open-installation.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { anchorFileIn, openSigning, witnessesOf } from '../../service/joins/audit-anchors.ts'
import { operator, requireId, withInstallation } from './with-installation.ts'
import { auditProofSchema, findProofFault, proveAuditRow } from '../../accounts/transparency/audit-proof.ts'
import { rotateSigningKey, signingKeyPathIn } from '../../accounts/transparency/signing-keys.ts'
import { verifyExport } from '../../accounts/transparency/verify-export.ts'
import type { AuditFault, KnownRoot } from '../../accounts/audit/chain-walk.ts'
import { askWitnesses, withCosignatures } from '../../accounts/transparency/witnesses.ts'
import {
  formatVerifier,
  hasQuorum,
  type NoteVerifier,
  parseCosigner,
  parseNote,
  parseVerifier,
  type Quorum,
} from '../../lib/signed-note.ts'
import { parseJson } from '../../lib/json/parse-json.ts'

const options = {
  organization: { type: 'string' },
  json: { type: 'boolean', default: false },
  export: { type: 'string' },
  checkpoint: { type: 'string', multiple: true },
  key: { type: 'string' },
  witness: { type: 'string', multiple: true },
  quorum: { type: 'string' },
  days: { type: 'string' },
} as const

const words = {
  list: 0,
  export: 0,
  verify: 0,
  keys: 0,
  checkpoint: 0,
  prove: 1,
  check: 1,
  'rotate-key': 0,
  'accept-restore': 0,
  expire: 0,
}

/** What says the same to programs with `--json`; an export and a proof are for them anyway. */
const inJson = ['list', 'export', 'verify', 'keys', 'prove']

/** `odyssey audit`: who changed what, and whether that record is as it was written. */
export async function auditCommand(args: string[]): Promise<void> {
  if (args[0] === 'witness') return (await import('./witness-command.ts')).witnessCommand(args.slice(1))
  if (args[0] === 'sign') return (await import('./sign-command.ts')).signCommand(args.slice(1))
  const { values, positionals } = parseArguments({ args, options, words })
  const [action, subject] = positionals
  if (values.json && action !== undefined && !inJson.includes(action) && Object.hasOwn(words, action))
    throw new UsageError(`audit ${action} has no --json; ${inJson.join(', ')} have.`)
  const named = values.organization === undefined ? null : requireId(values.organization, 'org')
  const quorum = readQuorum(values.witness ?? [], values.quorum)
  if (action === 'check') return check(subject, values.key, quorum)
  if (action === 'verify' && values.export !== undefined) {
    const files = { path: values.export, key: values.key, checkpoints: values.checkpoint ?? [], quorum }
    return printVerdicts(await verifyExportedAudit(files), { damagedLines: [], path: '', asJson: values.json })
  }
  await withInstallation(async (installation, config) => {
    const place = { installation, config, organizationId: named ?? installation.home.organizationId }
    if (action === 'list') await list(installation, named, values.json)
    else if (action === 'export') await exportAll(installation, named)
    else if (action === 'verify') {
      const checkpoints = values.checkpoint ?? []
      await verify(installation, config, { named, asJson: values.json, checkpoints, quorum })
    } else if (action === 'keys') await showKeys(place, values.json)
    else if (action === 'checkpoint') await showCheckpoint(place)
    else if (action === 'prove') await prove(place, subject)
    else if (action === 'rotate-key') await rotateKey(place)
    else if (action === 'accept-restore') await acceptOlder(place)
    else if (action === 'expire') await expire(place, values.days)
    else
      throw new UsageError(
        'audit takes list, export, verify, keys, checkpoint, prove, check, witness, sign, rotate-key, accept-restore or expire.',
      )
  })
}

async function list({ accounts, db }: Installation, named: OrganizationId | null, asJson: boolean): Promise<void> {
  for (const id of named === null ? await listAuditedOrganizations(db) : [named]) {
    for await (const entries of readWholeAudit(accounts, operator, id)) {
      for (const entry of entries) console.log(asJson ? JSON.stringify(entry) : describeEntry(entry))
    }
  }
}

async function exportAll(installation: Installation, named: OrganizationId | null): Promise<void> {
  const { accounts, db } = installation
  for (const id of named === null ? await listAuditedOrganizations(db) : [named]) {
    // Whoever checks an export needs the hashes of deleted rows.
    for await (const deleted of readDeletedEntries(accounts, operator, id)) console.log(JSON.stringify(deleted))
    await list(installation, id, true)
  }
}

function describeEntry({ at, organization, actor, action, target, after }: AuditEntry): string {
  const what = after === null ? '' : `  ${JSON.stringify(after)}`
  return `${at}  ${organization}  ${actor}  ${action}  ${target}${what}`
}

type Verification = {
  readonly named: OrganizationId | null
  readonly asJson: boolean
  readonly checkpoints: readonly string[]
  readonly quorum: Quorum | null
}

/** Ends with 1 when anything is wrong. What is sound is anchored and signed, so that it cannot be shortened from now on. */
async function verify(
  installation: Installation,
  config: Config,
  { named, asJson, checkpoints, quorum }: Verification,
) {
  const { db, accounts, secrets } = installation
  const file = anchorFileIn(config.home, secrets)
  const { valid, damagedLines } = await readAnchorsInForce(db, file)
  const anchored = valid.map(({ organization }) => organization)
  const everything = new Set([...(await listAuditedOrganizations(db)), ...anchored])
  const ids = named === null ? [...everything] : [named]
  const verifiers = await Promise.all(ids.map((id) => readVerifiers(db, id)))
  const given = Map.groupBy(readRoots(checkpoints, verifiers.flat(), quorum), ({ organizationId }) => organizationId)
  const verdicts: AuditVerdict[] = []
  for (const id of ids) {
    const { roots, faults } = await readOwnRoots(installation, config, id)
    const verdict = await verifyAudit(db, id, valid, [...roots, ...(given.get(id) ?? [])])
    const unwitnessed = quorum === null ? [] : await findUnwitnessed(installation, id, quorum)
    verdicts.push({ ...verdict, faults: [...faults, ...unwitnessed, ...verdict.faults] })
  }
  const isSound = ({ faults }: AuditVerdict) => faults.length === 0
  const sound = new Set(verdicts.filter(isSound).map(({ organizationId }) => organizationId))
  await writeAnchors(accounts, file, (id) => sound.has(id))
  const signing = await openSigning(config, accounts)
  if (signing.keys.length > 0) for (const id of sound) await signCheckpoint(accounts, signing, id)
  printVerdicts(verdicts, { damagedLines, path: file.path, asJson })
}

/** What was signed here, and what pretends to be. */
async function readOwnRoots({ db }: Installation, { home }: Config, organizationId: OrganizationId) {
  const { roots, forged } = await readSignedRoots(db, organizationId, checkpointFileIn(home))
  const faults = forged.map((size) => {
    const message = `The checkpoint of ${size} rows is not signed by this installation.`
    return { kind: 'forged' as const, sequence: size, message }
  })
  return { roots, faults }
}

/** What is wrong with the witnesses' signatures: none of a checkpoint's is enough, or one is not theirs. */
async function findUnwitnessed({ db }: Installation, organizationId: OrganizationId, quorum: Quorum) {
  const { size, forged } = await readWitnessed(db, organizationId, quorum)
  const faults = forged.map((sequence): AuditFault => {
    const message = `A cosignature of the checkpoint of ${sequence} rows is not by the witness that it names.`
    return { kind: 'forged', sequence, message }
  })
  if (size > 0) return faults
  const message = `No checkpoint is cosigned by ${quorum.count} of the witnesses.`
  return [...faults, { kind: 'unwitnessed', sequence: null, message } satisfies AuditFault]
}

function readQuorum(texts: readonly string[], given: string | undefined): Quorum | null {
  if (texts.length === 0) {
    if (given === undefined) return null
    throw new UsageError('--quorum needs --witness KEY.')
  }
  const cosigners = texts.map((text) => {
    const cosigner = parseCosigner(text)
    if (cosigner === null) throw new UsageError('--witness takes the key of a witness, as name+number+base64.')
    return cosigner
  })
  const count = given === undefined ? cosigners.length : Number(given)
  if (Number.isInteger(count) && count >= 1 && count <= cosigners.length) return { cosigners, count }
  throw new UsageError(`--quorum takes a number from 1 to ${cosigners.length}.`)
}

type Printing = { readonly damagedLines: readonly number[]; readonly path: string; readonly asJson: boolean }

function printVerdicts(verdicts: readonly AuditVerdict[], { damagedLines, path, asJson }: Printing): void {
  if (asJson) console.log(JSON.stringify({ verdicts, damagedAnchorLines: damagedLines }))
  else {
    for (const line of verdicts.flatMap(describeVerdict)) console.log(line)
    for (const line of damagedLines) console.log(`${path}: line ${line} was not written by this installation.`)
  }
  if (verdicts.some(({ faults }) => faults.length > 0) || damagedLines.length > 0) process.exitCode = 1
}

// What `odyssey audit` does with signed checkpoints and proofs.

type AuditedChain = {
  readonly installation: Installation
  readonly config: Config
  readonly organizationId: OrganizationId
}

async function showKeys({ installation, organizationId }: AuditedChain, asJson: boolean): Promise<void> {
  const verifiers = await readVerifiers(installation.db, organizationId)
  if (asJson) return console.log(JSON.stringify(verifiers.map(formatVerifier)))
  if (verifiers.length === 0) console.log(`The audit of ${organizationId} was not signed yet.`)
  for (const verifier of verifiers) console.log(formatVerifier(verifier))
}

async function showCheckpoint(place: AuditedChain): Promise<void> {
  await sign(place)
  const checkpoint = await readLastCheckpoint(place.installation.db, place.organizationId)
  if (checkpoint === null) throw new Error(`The audit of ${place.organizationId} is empty.`)
  process.stdout.write(await withCosignatures(place.installation.db, place.organizationId, checkpoint))
}

async function prove(place: AuditedChain, rowId: string | undefined): Promise<void> {
  if (rowId === undefined) throw new UsageError('audit prove takes the id of a row.')
  await sign(place)
  const { installation, organizationId } = place
  console.log(JSON.stringify(await proveAuditRow(installation.db, operator, { organizationId, rowId })))
}

async function rotateKey({ installation, config: { home, audit } }: AuditedChain): Promise<void> {
  const { signer } = audit
  await rotateSigningKey({ home, signer }, installation.accounts, operator)
  if (signer !== null) console.log('The key of audit.signer signs from now on. Tell whoever verifies: audit keys.')
  else
    console.log(
      `${signingKeyPathIn(home)} is new. Copy it to the other gateways, and tell whoever verifies: audit keys.`,
    )
}

async function acceptOlder({ installation, config, organizationId }: AuditedChain): Promise<void> {
  const signing = await openSigning(config, installation.accounts)
  await acceptRestore(installation.accounts, operator, { signing, organizationId })
  console.log(`The audit of ${organizationId} is signed again from what it holds now.`)
}

/** Deletes what is older than the config file or `--days` says. Ends with 1 where something is wrong with it. */
async function expire({ installation: { accounts }, config }: AuditedChain, days: string | undefined): Promise<void> {
  const daysMax = days === undefined ? config.audit.daysMax : Number(days)
  if (daysMax === null || !Number.isInteger(daysMax) || daysMax < 1)
    throw new UsageError('audit expire takes --days N.')
  const deletions = await deleteOldAuditRows(accounts, operator, { daysMax, file: checkpointFileIn(config.home) })
  if (deletions.length === 0) console.log(`Nothing that may be deleted is older than ${daysMax} days.`)
  for (const { organizationId, rows, refusal, held } of deletions) {
    const kept =
      held === null ? '' : `${held.rows} more are kept for ${held.sinks.join(', ')}, which has yet to be given them.`
    console.log(`${organizationId}: ${rows} rows were deleted. ${refusal ?? kept}`.trimEnd())
    if (refusal !== null) process.exitCode = 1
  }
}

/** Throws why not, where it does not go on from what was signed before. */
async function sign({ installation: { accounts }, config, organizationId }: AuditedChain): Promise<void> {
  const signing = await openSigning(config, accounts)
  if (signing.keys.length === 0) {
    throw new Error(`${signingKeyPathIn(config.home)} is missing. Copy it from the gateway that signs.`)
  }
  const refusal = await signCheckpoint(accounts, signing, organizationId)
  if (refusal !== null) throw new Error(refusal)
  const failures = await askWitnesses(accounts, { witnesses: witnessesOf(config), file: signing.file })
  for (const { witness, organizationId: of, message } of failures) console.error(`${witness}, ${of}: ${message}`)
}

/** Needs nothing but the file and the key. Ends with 1 when the proof does not hold. */
function check(file: string | undefined, key: string | undefined, quorum: Quorum | null): void {
  if (file === undefined || key === undefined) throw new UsageError('audit check takes a file and --key VERIFIER.')
  const proof = auditProofSchema.safeParse(parseJson(readFileSync(file, 'utf8')))
  if (!proof.success) throw new Error(`${file} is no proof: ${z.prettifyError(proof.error)}`)
  const note = parseNote(proof.data.checkpoint)
  const isWitnessed = quorum === null || (note !== null && hasQuorum(note, quorum))
  const missing = isWitnessed ? null : `The checkpoint is not cosigned by ${quorum.count} of the witnesses.`
  const fault = findProofFault(proof.data, readKey(key)) ?? missing
  const { action, target, actor, at, sequence } = proof.data.row
  const row = `${new Date(at).toISOString()}  ${actor}  ${action}  ${target}`
  console.log(fault ?? `Row ${sequence} stands in the audit: ${row}`)
  if (fault !== null) process.exitCode = 1
}

type ExportFiles = {
  readonly path: string
  readonly key: string | undefined
  readonly checkpoints: readonly string[]
  readonly quorum: Quorum | null
}

/** Checks an exported audit with nothing but files and the key. */
function verifyExportedAudit({ path, key, checkpoints, quorum }: ExportFiles): Promise<AuditVerdict[]> {
  const roots = key === undefined ? [] : readRoots(checkpoints, [readKey(key)], quorum)
  if (key === undefined && checkpoints.length > 0) throw new UsageError('--checkpoint needs --key VERIFIER.')
  const known = Map.groupBy(roots, ({ organizationId }) => organizationId)
  return verifyExport(createInterface({ input: createReadStream(path), crlfDelay: Infinity }), known)
}

type OwnedRoot = KnownRoot & { readonly organizationId: OrganizationId }

/** The roots that files hold, as far as one of the verifiers has signed them. Throws for a file without any. */
function readRoots(
  files: readonly string[],
  verifiers: readonly NoteVerifier[],
  quorum: Quorum | null,
): readonly OwnedRoot[] {
  return files.flatMap((file) => {
    const found = parseCheckpoints(readFileSync(file, 'utf8'), verifiers, quorum)
    const enough = quorum === null ? '' : `, and cosigned by ${quorum.count} of the witnesses`
    if (found.length === 0) throw new Error(`${file} holds no checkpoint that is signed with the key${enough}.`)
    return found.map(({ origin, size, root }) => {
      const organizationId = `org_${origin.split('/org_').at(-1) ?? ''}` as const
      return { organizationId, size, root, from: `signed in ${file}` }
    })
  })
}

function readKey(text: string): NoteVerifier {
  const verifier = parseVerifier(text)
  if (verifier === null) throw new UsageError('--key takes a verifier, as odyssey audit keys shows it.')
  return verifier
}
