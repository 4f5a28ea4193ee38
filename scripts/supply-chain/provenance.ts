import { createHash, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { basename } from 'node:path'
import { readFileSync } from 'node:fs'

/** What an artifact was built from, and how. */
export type Build = {
  /** The commit of the sources, as 40 hexadecimal digits. */
  readonly commit: string
  /** Where the sources are fetched from. */
  readonly repository: string
  /** What was run, as `npm run package`. */
  readonly command: string
  /** Who ran it: an address or a URN that stands for the machine or the service. */
  readonly builder: string
  /** By which the versions of all packages are fixed. */
  readonly lockfile: Buffer
  /** When it was over; left out, the statement is the same for the same build. */
  readonly finishedOn?: string
}

/** A statement as in-toto has it (Statement v1) with a predicate of SLSA (Provenance v1). */
export type Statement = ReturnType<typeof makeStatement>

/** A signed statement: DSSE v1, as cosign, slsa-verifier and their like read it. */
export type Envelope = {
  readonly payloadType: string
  readonly payload: string
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[]
}

export const payloadType = 'application/vnd.in-toto+json'

/** States of which bytes the files are, and what they were built from. */
export function makeStatement(files: readonly string[], build: Build) {
  const { commit, repository, command, builder, lockfile, finishedOn } = build
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map((file) => ({ name: basename(file), digest: { sha256: sha256(readFileSync(file)) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:odyssey:build:command:1',
        externalParameters: { command, repository, commit },
        resolvedDependencies: [
          { uri: `git+${repository}@${commit}`, digest: { gitCommit: commit } },
          { uri: 'package-lock.json', digest: { sha256: sha256(lockfile) } },
        ],
      },
      runDetails: { builder: { id: builder }, ...(finishedOn !== undefined && { metadata: { finishedOn } }) },
    },
  }
}

/** Signs with an Ed25519 key. */
export function signStatement(statement: Statement, key: KeyObject): Envelope {
  const payload = Buffer.from(JSON.stringify(statement))
  const sig = sign(null, preAuthenticated(payload), key).toString('base64')
  return { payloadType, payload: payload.toString('base64'), signatures: [{ keyid: keyIdOf(key), sig }] }
}

/** Says in words what is wrong with the provenance of a file; null where the key has signed that it is of these bytes. */
export function faultOf(envelope: Envelope, file: string, key: KeyObject): string | null {
  if (envelope.payloadType !== payloadType) return `It is a statement of another kind: ${envelope.payloadType}.`
  const payload = Buffer.from(envelope.payload, 'base64')
  const isSigned = envelope.signatures.some(({ sig }) =>
    verify(null, preAuthenticated(payload), key, Buffer.from(sig, 'base64')),
  )
  if (!isSigned) return 'It was not signed with this key.'
  const { subject } = JSON.parse(payload.toString('utf8')) as Statement
  const digest = sha256(readFileSync(file))
  return subject.some((one) => one.digest.sha256 === digest) ? null : `It says nothing of ${basename(file)} as it is.`
}

/** What DSSE has signed: the kind of the payload and the payload, each with its length in front. */
function preAuthenticated(payload: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `),
    payload,
  ])
}

function keyIdOf(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key
  return sha256(publicKey.export({ type: 'spki', format: 'der' }))
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
