// Prompts with words of their own, in both formats, answered, streamed, refused and left, are searched for afterwards in
// the service's memory, in the files that its processes have open, and in all that it has written or said.

import { equal, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bodyFor, formats, paths } from '../harness/http/ask.ts'
import { memoryEnvironment, readMemory, readOpenFiles, readWrittenFiles } from '../harness/kept/kept-text.ts'
import { startService, until, type Service } from '../harness/start-service.ts'
import { Failures, type CampaignOptions, type CampaignResult } from './campaign.ts'
import { createRandom, type Random } from './random.ts'

/** In every prompt, and nowhere else in the world. */
const common = 'quetzalcoatlus'
const atOnce = 8
const contact = 'capacity@odyssey.example'

type Kind = 'answered' | 'streamed' | 'refused' | 'left'
const kinds: readonly Kind[] = ['answered', 'streamed', 'refused', 'left']

/** `count` is the prompts. Each has a number of its own, and every hundredth of these is searched for too. */
export async function runRetention({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const random = createRandom(seed)
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-retention-'))
  const snapshot = join(folder, 'memory.heapsnapshot')
  const service = await startService({
    weights: 'built-in',
    environment: memoryEnvironment(snapshot),
    config: { contact },
  })
  try {
    const words = await sendAll(service, { random, count, log, failures })
    const wanted = [common, ...words.filter((_, index) => index % 100 === 0)]
    const openFiles = process.platform === 'linux' ? await readOpenFiles(service) : new Map<string, Buffer>()
    for (const [file, content] of openFiles) check(failures, `open: ${file}`, content, wanted)
    await checkMemory(service, { snapshot, wanted, failures })
    const [row] = service.ledger()
    const rows = service.ledger().length
    failures.check('the end', () => ok(row !== undefined))
    await service.stop()
    const written = readWrittenFiles(service)
    failures.check('what was searched', () =>
      // It would find a prompt if there was one: the same requests' ids are there.
      ok([...written.values()].some((content) => content.includes(row?.request_id ?? 'none'))),
    )
    for (const [file, content] of written) check(failures, `written: ${file}`, content, wanted)
    const { stdout, stderr } = service.output()
    check(failures, 'said', Buffer.from(stdout + stderr), wanted)
    const files = openFiles.size + written.size
    return failures.toResult({ prompts: count, 'rows of the ledger': rows, 'words searched for': wanted.length, files })
  } finally {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

type Sending = Pick<CampaignOptions, 'count' | 'log'> & { readonly random: Random; readonly failures: Failures }

/** Returns the words that each prompt had for itself. */
async function sendAll(service: Service, { random, count, log, failures }: Sending): Promise<readonly string[]> {
  const words = Array.from({ length: count }, (_, index) => `northropi${index}x${random.integer(0, 1e9)}`)
  let next = 0
  const work = async () => {
    for (let index = next++; index < count; index = next++) {
      const kind = kinds[index % kinds.length] ?? 'answered'
      const status = await send(service, { text: `Tell of ${common} ${words[index]}.`, kind, index })
      failures.check(`prompt ${index}, ${kind}`, () => equal(status, kind === 'refused' ? 400 : 200))
      if (index % 1_000 === 999) log(`${index + 1} of ${count}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return words
}

type Prompt = { readonly text: string; readonly kind: Kind; readonly index: number }

async function send({ address, key }: Service, { text, kind, index }: Prompt): Promise<number> {
  const format = formats[Math.floor(index / kinds.length) % formats.length] ?? 'chat'
  const fields = {
    answered: { max_tokens: 2 },
    streamed: { max_tokens: 2, stream: true },
    // Refused for a field that holds the text itself.
    refused: { max_tokens: 2, temperature: text },
    left: { max_tokens: 200, stream: true },
  }[kind]
  const body = bodyFor(format, { messages: [{ role: 'user', content: text }], ...fields })
  const response = await fetch(`${address}${paths[format]}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (kind === 'left') await response.body?.cancel()
  else await response.arrayBuffer()
  return response.status
}

type Searched = { readonly snapshot: string; readonly wanted: readonly string[]; readonly failures: Failures }

/** Connections and timers let go of what they held a moment later. */
async function checkMemory(service: Service, { snapshot, wanted, failures }: Searched): Promise<void> {
  let memory: Buffer = Buffer.alloc(0)
  const holdsNone = async () => {
    memory = await readMemory(service, snapshot)
    return wanted.every((word) => !memory.includes(word))
  }
  // What is still held is told below, word by word.
  await until(holdsNone, 'A prompt is held after its end.', 60_000).catch(() => {})
  failures.check('the memory that was searched', () => ok(memory.includes(contact)))
  check(failures, 'memory', memory, wanted)
}

function check(failures: Failures, where: string, content: Buffer, wanted: readonly string[]): void {
  failures.check(where, () => equal(wanted.filter((word) => content.includes(word)).join(), ''))
}
