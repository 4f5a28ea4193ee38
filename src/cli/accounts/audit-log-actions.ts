// What `odyssey audit` does with signed checkpoints and proofs.

import { createReadStream, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { z } from 'zod'
import { auditProofSchema, findProofFault, proveAuditRow } from '../../accounts/transparency/audit-proof.ts'
import { parseCheckpoints } from '../../accounts/transparency/checkpoint-file.ts'
import { readVerifiers } from '../../accounts/transparency/known-roots.ts'
import { acceptRestore, readLastCheckpoint, signCheckpoint } from '../../accounts/transparency/sign-checkpoints.ts'
import { rotateSigningKey, signingKeyPathIn } from '../../accounts/transparency/signing-keys.ts'
import { verifyExport } from '../../accounts/transparency/verify-export.ts'
import type { KnownRoot } from '../../accounts/audit/chain-walk.ts'
import type { AuditVerdict } from '../../accounts/audit/verify-audit.ts'
import type { Config } from '../../config/schema.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { formatVerifier, parseVerifier, type NoteVerifier } from '../../lib/signed-note.ts'
import { openSigning } from '../../service/joins/audit-anchors.ts'
import type { Installation } from '../../service/joins/open-installation.ts'
import { UsageError } from '../usage-error.ts'
import { operator } from './with-installation.ts'
import { parseJson } from '../../lib/json/parse-json.ts'

type Place = { readonly installation: Installation; readonly config: Config; readonly organizationId: OrganizationId }

export async function showKeys({ installation, organizationId }: Place): Promise<void> {
  const verifiers = await readVerifiers(installation.db, organizationId)
  if (verifiers.length === 0) console.log(`The audit of ${organizationId} was not signed yet.`)
  for (const verifier of verifiers) console.log(formatVerifier(verifier))
}

export async function showCheckpoint(place: Place): Promise<void> {
  await sign(place)
  const checkpoint = await readLastCheckpoint(place.installation.db, place.organizationId)
  if (checkpoint === null) throw new Error(`The audit of ${place.organizationId} is empty.`)
  process.stdout.write(checkpoint.note)
}

export async function prove(place: Place, rowId: string | undefined): Promise<void> {
  if (rowId === undefined) throw new UsageError('audit prove takes the id of a row.')
  await sign(place)
  const { installation, organizationId } = place
  console.log(JSON.stringify(await proveAuditRow(installation.db, operator, { organizationId, rowId })))
}

export async function rotateKey({ installation, config: { home } }: Place): Promise<void> {
  await rotateSigningKey(home, installation.accounts, operator)
  console.log(`${signingKeyPathIn(home)} is new. Copy it to the other gateways, and tell whoever verifies: audit keys.`)
}

export async function acceptOlder({ installation, config, organizationId }: Place): Promise<void> {
  const signing = await openSigning(config, installation.accounts)
  await acceptRestore(installation.accounts, operator, { signing, organizationId })
  console.log(`The audit of ${organizationId} is signed again from what it holds now.`)
}

/** Throws why not, where it does not go on from what was signed before. */
async function sign({ installation: { accounts }, config, organizationId }: Place): Promise<void> {
  const signing = await openSigning(config, accounts)
  if (signing.keys.length === 0) {
    throw new Error(`${signingKeyPathIn(config.home)} is missing. Copy it from the gateway that signs.`)
  }
  const refusal = await signCheckpoint(accounts, signing, organizationId)
  if (refusal !== null) throw new Error(refusal)
}

/** Needs nothing but the file and the key. Ends with 1 when the proof does not hold. */
export function check(file: string | undefined, key: string | undefined): void {
  if (file === undefined || key === undefined) throw new UsageError('audit check takes a file and --key VERIFIER.')
  const proof = auditProofSchema.safeParse(parseJson(readFileSync(file, 'utf8')))
  if (!proof.success) throw new Error(`${file} is no proof: ${z.prettifyError(proof.error)}`)
  const fault = findProofFault(proof.data, readKey(key))
  const { action, target, actor, at, sequence } = proof.data.row
  const row = `${new Date(at).toISOString()}  ${actor}  ${action}  ${target}`
  console.log(fault ?? `Row ${sequence} stands in the audit: ${row}`)
  if (fault !== null) process.exitCode = 1
}

export type ExportFiles = {
  readonly path: string
  readonly key: string | undefined
  readonly checkpoints: readonly string[]
}

/** Checks an exported audit with nothing but files and the key. */
export function verifyExportedAudit({ path, key, checkpoints }: ExportFiles): Promise<AuditVerdict[]> {
  const roots = key === undefined ? [] : readRoots(checkpoints, [readKey(key)])
  if (key === undefined && checkpoints.length > 0) throw new UsageError('--checkpoint needs --key VERIFIER.')
  const known = Map.groupBy(roots, ({ organizationId }) => organizationId)
  return verifyExport(createInterface({ input: createReadStream(path), crlfDelay: Infinity }), known)
}

type OwnedRoot = KnownRoot & { readonly organizationId: OrganizationId }

/** The roots that files hold, as far as one of the verifiers has signed them. Throws for a file without any. */
export function readRoots(files: readonly string[], verifiers: readonly NoteVerifier[]): readonly OwnedRoot[] {
  return files.flatMap((file) => {
    const found = parseCheckpoints(readFileSync(file, 'utf8'), verifiers)
    if (found.length === 0) throw new Error(`${file} holds no checkpoint that is signed with the key.`)
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
