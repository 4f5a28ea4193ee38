import { readAnchorsInForce, writeAnchors } from '../../accounts/audit/anchors.ts'
import { listAuditedOrganizations, readAudit, type AuditEntry } from '../../accounts/audit/read-audit.ts'
import { verifyAudit, type AuditVerdict } from '../../accounts/audit/verify-audit.ts'
import { checkpointFileIn } from '../../accounts/transparency/checkpoint-file.ts'
import { readSignedRoots, readVerifiers } from '../../accounts/transparency/known-roots.ts'
import { signCheckpoint } from '../../accounts/transparency/sign-checkpoints.ts'
import type { Config } from '../../config/schema.ts'
import type { OrganizationId } from '../../core/ids.ts'
import type { Installation } from '../../service/joins/open-installation.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { anchorFileIn, openSigning } from '../../service/joins/audit-anchors.ts'
import {
  acceptOlder,
  check,
  prove,
  readRoots,
  rotateKey,
  showCheckpoint,
  showKeys,
  verifyExportedAudit,
} from './audit-log-actions.ts'
import { operator, requireId, withInstallation } from './with-installation.ts'

const options = {
  organization: { type: 'string' },
  json: { type: 'boolean', default: false },
  export: { type: 'string' },
  checkpoint: { type: 'string', multiple: true },
  key: { type: 'string' },
} as const

/** `odyssey audit`: who changed what, and whether that record is as it was written. */
export async function auditCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, allowPositionals: true })
  const [action, subject] = positionals
  const named = values.organization === undefined ? null : requireId(values.organization, 'org')
  if (action === 'check') return check(subject, values.key)
  if (action === 'verify' && values.export !== undefined) {
    const files = { path: values.export, key: values.key, checkpoints: values.checkpoint ?? [] }
    return printVerdicts(await verifyExportedAudit(files), { damagedLines: [], path: '', asJson: values.json })
  }
  await withInstallation(async (installation, config) => {
    const place = { installation, config, organizationId: named ?? installation.home.organizationId }
    if (action === 'list') await list(installation, named, describeEntry)
    else if (action === 'export') await list(installation, named, (entry) => JSON.stringify(entry))
    else if (action === 'verify') {
      await verify(installation, config, { named, asJson: values.json, checkpoints: values.checkpoint ?? [] })
    } else if (action === 'keys') await showKeys(place)
    else if (action === 'checkpoint') await showCheckpoint(place)
    else if (action === 'prove') await prove(place, subject)
    else if (action === 'rotate-key') await rotateKey(place)
    else if (action === 'accept-restore') await acceptOlder(place)
    else
      throw new UsageError(
        'audit takes list, export, verify, keys, checkpoint, prove, check, rotate-key or accept-restore.',
      )
  })
}

const entriesPerRead = 500

async function list(
  { accounts, db }: Installation,
  named: OrganizationId | null,
  describe: (entry: AuditEntry) => string,
): Promise<void> {
  for (const organizationId of named === null ? await listAuditedOrganizations(db) : [named]) {
    let afterSequence = 0
    for (;;) {
      const entries = await readAudit(accounts, operator, { organizationId, afterSequence, limit: entriesPerRead })
      for (const entry of entries) console.log(describe(entry))
      const last = entries.at(-1)?.sequence ?? null
      if (last === null) break
      afterSequence = last
    }
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
}

/** Ends with 1 when anything is wrong. What is sound is anchored and signed, so that it cannot be shortened from now on. */
async function verify(installation: Installation, config: Config, { named, asJson, checkpoints }: Verification) {
  const { db, accounts, secrets } = installation
  const file = anchorFileIn(config.home, secrets)
  const { valid, damagedLines } = await readAnchorsInForce(db, file)
  const anchored = valid.map(({ organization }) => organization)
  const everything = new Set([...(await listAuditedOrganizations(db)), ...anchored])
  const ids = named === null ? [...everything] : [named]
  const verifiers = await Promise.all(ids.map((id) => readVerifiers(db, id)))
  const given = Map.groupBy(readRoots(checkpoints, verifiers.flat()), ({ organizationId }) => organizationId)
  const verdicts: AuditVerdict[] = []
  for (const id of ids) {
    const { roots, faults } = await readOwnRoots(installation, config, id)
    const verdict = await verifyAudit(db, id, valid, [...roots, ...(given.get(id) ?? [])])
    verdicts.push({ ...verdict, faults: [...faults, ...verdict.faults] })
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

type Printing = { readonly damagedLines: readonly number[]; readonly path: string; readonly asJson: boolean }

function printVerdicts(verdicts: readonly AuditVerdict[], { damagedLines, path, asJson }: Printing): void {
  if (asJson) console.log(JSON.stringify({ verdicts, damagedAnchorLines: damagedLines }))
  else for (const line of describeVerdicts(verdicts, damagedLines, path)) console.log(line)
  if (verdicts.some(({ faults }) => faults.length > 0) || damagedLines.length > 0) process.exitCode = 1
}

function describeVerdicts(verdicts: readonly AuditVerdict[], damagedLines: readonly number[], path: string): string[] {
  const lines = verdicts.flatMap(({ organizationId, rows, faults }) => {
    const state = faults.length === 0 ? 'as they were written' : `${faults.length} found wrong`
    return [`${organizationId}: ${rows} rows, ${state}`, ...faults.map(({ kind, message }) => `  ${kind}: ${message}`)]
  })
  return [...lines, ...damagedLines.map((line) => `${path}: line ${line} was not written by this installation.`)]
}
