// A witness as C2SP's tlog-witness describes it: it keeps the last checkpoint of each log that it knows, and cosigns what
// goes on from it.

import { createHash, createPrivateKey, type KeyObject } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseCheckpoint, type Checkpoint } from '../../accounts/transparency/checkpoint.ts'
import { makeKeyFile } from '../../accounts/transparency/signing-keys.ts'
import { lockHome } from '../../db/lock-home.ts'
import { systemClock, type Clock } from '../../lib/clock.ts'
import { emptyRoot, isConsistent } from '../../lib/merkle-tree.ts'
import {
  cosign,
  findSigners,
  formatCosigner,
  formatVerifier,
  parseNote,
  parseVerifier,
  publicKeyOf,
  type Note,
  type NoteVerifier,
} from '../../lib/signed-note.ts'
import { syncFolder, writeAndSync, writeFileDurably } from '../../lib/write-file-durably.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'

const options = {
  folder: { type: 'string' },
  name: { type: 'string' },
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '8090' },
} as const

/** A checkpoint with a proof of 63 lines and a few signatures has a tenth of that. */
const bodyBytesMax = 65_536
const requestMsMax = 10_000

/** `odyssey audit witness`: cosigns the audits of other installations, on a machine of whoever does not trust them. */
export async function witnessCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, words: { create: 0 } })
  const { folder, name, host } = values
  if (folder === undefined) throw new UsageError('audit witness needs --folder FOLDER.')
  const [action] = positionals
  if (action === 'create') {
    if (name === undefined) throw new UsageError('audit witness create needs --name NAME, as witness.example.com/w1.')
    console.log(createWitness(folder, name))
    console.log(`Write the keys of the logs, as odyssey audit keys shows them, into ${join(folder, 'logs.txt')}.`)
    return
  }
  if (action !== undefined) throw new UsageError('audit witness takes create, or nothing.')
  const port = Number(values.port)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new UsageError('--port takes a number up to 65535.')
  const book = new WitnessBook(folder, systemClock)
  // Two that keep one folder would pass each other.
  const unlock = lockHome(join(folder, 'witness.lock'))
  if (unlock === null) throw new Error(`Another witness already runs on ${folder}.`)
  const server = serve(book)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { address, port: own } = server.address() as AddressInfo
  console.log(`${book.verifier} cosigns at http://${address.includes(':') ? `[${address}]` : address}:${own}`)
  await new Promise((resolve) => ['SIGINT', 'SIGTERM'].forEach((signal) => process.once(signal, resolve)))
  server.closeAllConnections()
  server.close()
  unlock()
}

function serve(book: WitnessBook) {
  const server = createServer({ requestTimeout: requestMsMax }, (request, response) => {
    const answer = (status: number, contentType: string, body: string) => {
      response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' }).end(body)
    }
    if (request.url !== '/add-checkpoint') return answer(404, plain, 'There is nothing here.\n')
    if (request.method !== 'POST') return answer(405, plain, 'Use POST.\n')
    readBody(request)
      .then(
        (body) => {
          if (body === null) return answer(413, plain, 'This is too long.\n')
          const { status, contentType, body: own } = book.add(body)
          return answer(status, contentType, own)
        },
        () => response.destroy(),
      )
      .catch((error: unknown) => {
        console.error(error)
        answer(500, plain, 'This failed.\n')
      })
  })
  return server
}

async function readBody(request: IncomingMessage): Promise<string | null> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > bodyBytesMax) return null
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

export type WitnessAnswer = { readonly status: number; readonly contentType: string; readonly body: string }

const plain = 'text/plain; charset=utf-8'
const proofLinesMax = 63

const logsFile = 'logs.txt'
const keyFile = 'witness.key'
const nameFile = 'name.txt'
const seenFolder = 'seen'

/** Makes the folder of a witness, which has a key and has seen nothing yet. Returns the text by which others know it. */
export function createWitness(folder: string, name: string): string {
  if (!/^[^\s+\p{Cc}]{1,200}$/u.test(name))
    throw new Error('A witness is named without spaces and plus signs, as witness.example.com/w1.')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (existsSync(join(folder, keyFile))) throw new Error(`${folder} has a witness already.`)
  mkdirSync(join(folder, seenFolder), { mode: 0o700 })
  writeAndSync(join(folder, nameFile), `${name}\n`, 'wx')
  writeAndSync(join(folder, logsFile), '', 'wx')
  const publicKey = makeKeyFile(join(folder, keyFile))
  syncFolder(folder)
  return formatCosigner({ name, publicKey })
}

/**
 * Cosigns what goes on from what it has seen, one request after the other.
 *
 * What it has seen is in its folder, on the disk before it answers. It never goes back: without the folder it does not start.
 */
export class WitnessBook {
  readonly #folder: string
  readonly #clock: Clock
  readonly #name: string
  readonly #privateKey: KeyObject

  constructor(folder: string, clock: Clock) {
    if (!existsSync(join(folder, keyFile)) || !existsSync(join(folder, seenFolder))) {
      throw new Error(
        `${folder} is not whole. A witness that has forgotten what it saw must not go on: put it back, or make another one.`,
      )
    }
    this.#folder = folder
    this.#clock = clock
    this.#name = readFileSync(join(folder, nameFile), 'utf8').trim()
    this.#privateKey = createPrivateKey(readFileSync(join(folder, keyFile)))
  }

  get verifier(): string {
    return formatCosigner({ name: this.#name, publicKey: publicKeyOf(this.#privateKey) })
  }

  /** Answers the body of a request to `add-checkpoint`. All of it happens at once, so that two requests cannot pass each other. */
  add(body: string): WitnessAnswer {
    const asked = parseRequest(body)
    if (asked === null) return refuse(400, 'This is no request to add a checkpoint.')
    const { note, checkpoint, oldSize, proof } = asked
    const verifiers = this.#verifiersOf(checkpoint.origin)
    if (verifiers.length === 0) return refuse(404, 'This log is not known here.')
    if (!isSignedBy(note, verifiers)) return refuse(403, 'The checkpoint is not signed by its log.')
    if (oldSize > checkpoint.size) return refuse(400, 'The old size is larger than the new one.')
    const seen = this.#readSeen(checkpoint.origin)
    const known = seen?.checkpoint ?? { size: 0, root: emptyRoot }
    if (oldSize !== known.size) return { status: 409, contentType: 'text/x.tlog.size', body: `${known.size}\n` }
    const isFirst = oldSize === 0
    const sizes = { oldSize, oldRoot: known.root, size: checkpoint.size, root: checkpoint.root }
    const isNext = isFirst ? proof.length === 0 : isConsistent({ ...sizes, proof })
    const isEmptySound = checkpoint.size > 0 || checkpoint.root.equals(emptyRoot)
    // Whoever asks shall see both: what it has signed, and what was seen before.
    if (!isNext || !isEmptySound) return refuse(422, `It does not go on from what was seen:\n\n${seen?.note ?? ''}`)
    const line = cosign(note.text, { name: this.#name, privateKey: this.#privateKey }, this.#clock.nowMs())
    writeFileDurably(this.#pathOf(checkpoint.origin), `${asked.noteText}${line}`)
    return { status: 200, contentType: plain, body: line }
  }

  /** The lines of the folder's list, read each time: a log that is added is known at once. */
  #verifiersOf(origin: string): NoteVerifier[] {
    const lines = readFileSync(join(this.#folder, logsFile), 'utf8').split('\n')
    return lines.flatMap((line) => parseVerifier(line.trim()) ?? []).filter(({ name }) => name === origin)
  }

  #pathOf(origin: string): string {
    return join(this.#folder, seenFolder, `${createHash('sha256').update(origin).digest('hex')}.txt`)
  }

  #readSeen(origin: string): { readonly note: string; readonly checkpoint: Checkpoint } | null {
    const path = this.#pathOf(origin)
    if (!existsSync(path)) return null
    const note = readFileSync(path, 'utf8')
    const checkpoint = parseCheckpoint(parseNote(note)?.text ?? '')
    if (checkpoint?.origin !== origin) throw new Error(`${path} is damaged.`)
    return { note, checkpoint }
  }
}

type AddRequest = {
  readonly oldSize: number
  readonly proof: readonly Buffer[]
  readonly noteText: string
  readonly note: Note
  readonly checkpoint: Checkpoint
}

function parseRequest(body: string): AddRequest | null {
  const [, old = '', lines = '', noteText = ''] =
    /^old (0|[1-9]\d{0,14})\n((?:[\d+/A-Za-z]{43}=\n)*)\n([^]+)$/.exec(body) ?? []
  const note = parseNote(noteText)
  const checkpoint = note && parseCheckpoint(note.text)
  const proof = lines.split('\n').slice(0, -1)
  if (note === null || checkpoint === null || proof.length > proofLinesMax) return null
  return { oldSize: Number(old), proof: proof.map((line) => Buffer.from(line, 'base64')), noteText, note, checkpoint }
}

/** A signature under the name and number of a key that the key has not made makes the whole note none of the log's. */
function isSignedBy(note: Note, verifiers: readonly NoteVerifier[]): boolean {
  const signers = findSigners(note, verifiers)
  const named = verifiers.filter((verifier) => {
    const number = formatVerifier(verifier).split('+')[1]
    return note.signatures.some(({ name, keyNumber }) => name === verifier.name && keyNumber.toString('hex') === number)
  })
  return signers.length > 0 && signers.length === named.length
}

function refuse(status: number, message: string): WitnessAnswer {
  return { status, contentType: plain, body: `${message}\n` }
}
