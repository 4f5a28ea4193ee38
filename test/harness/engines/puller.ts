import { equal, ok } from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeFault, DownloadError, type DownloadFault } from '../../../src/models/download/download-error.ts'
import type { FetchParts } from '../../../src/models/download/fetch-file.ts'
import { fetchWeights } from '../../../src/models/download/fetch-weights.ts'
import { parseWeightsSource } from '../../../src/models/download/weights-source.ts'
import type { ChosenWeights } from '../../../src/config/weights-map.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { sendFile, startWeightsHub, type Answer, type Sending, type WeightsHub } from './weights-hub.ts'

export type PullOptions = {
  readonly hub: WeightsHub
  readonly source?: string
  readonly sha256?: string
  readonly token?: string
  readonly changes?: Partial<FetchParts>
}

/** Fetches weights in this process, into a folder of its own and without the network's pauses. */
export class Puller {
  readonly folder = mkdtempSync(join(tmpdir(), 'odyssey-pull-'))
  /** Where a pull that names no source puts its file. */
  readonly path = join(this.folder, 'owner/repo/file.gguf')
  readonly said: string[] = []
  readonly #hubs: WeightsHub[] = []

  async startHub(answer: Answer): Promise<WeightsHub> {
    const hub = await startWeightsHub(answer)
    this.#hubs.push(hub)
    return hub
  }

  /** A server of one file whose answers to GETs a test chooses by their number, from 0 on. */
  startFileServer(choose: (get: number) => Sending): Promise<WeightsHub> {
    let gets = 0
    return this.startHub((request, response) => {
      sendFile(request, response, choose(request.method === 'HEAD' ? 0 : gets++))
    })
  }

  pull({ hub, source = 'owner/repo/file.gguf', sha256, token, changes }: PullOptions): Promise<ChosenWeights> {
    const parts: FetchParts = {
      retryPolicy: { idleMs: 5_000, triesMax: 3, pauseMs: () => 0 },
      clock: systemClock,
      signal: new AbortController().signal,
      spareBytes: 0,
      freeBytes: async () => 1e12,
      progress: { begin: () => {}, report: () => {}, say: (text) => this.said.push(text), end: () => {} },
      ...changes,
    }
    return fetchWeights(parts, {
      source: parseWeightsSource(source, hub.address),
      hub: { address: hub.address, token: token ?? null },
      folder: this.folder,
      home: this.folder,
      givenSha256: sha256 ?? null,
    })
  }

  /** The pull must fail; what with, and what the operator reads. */
  async faultOf(options: PullOptions): Promise<DownloadFault & { readonly message: string }> {
    try {
      await this.pull(options)
    } catch (error) {
      if (error instanceof DownloadError) return { ...error.fault, message: describeFault(error, 'hal-1.0') }
      throw error
    }
    throw new Error('The pull did not fail.')
  }

  isPartLeft(): boolean {
    return existsSync(`${this.path}.part`) || existsSync(`${this.path}.part.json`)
  }

  checkFetched(content: Buffer): void {
    ok(readFileSync(this.path).equals(content), 'the file is what the server has')
    equal(this.isPartLeft(), false)
  }

  async close(): Promise<void> {
    await Promise.all(this.#hubs.map((hub) => hub.close()))
    rmSync(this.folder, { recursive: true })
  }
}
