import type { BlockChain } from './block-index.ts'
import type { WaitingElsewhere } from './pool-queue.ts'
import type { Computed, ReplicaLoad } from './replica-load.ts'

/** What one gateway tells the others of a pool, as JSON. Times are told by how long ago they were, since the clocks of two machines differ. */
export type PlacementNotice = {
  readonly gateway: string
  readonly pool: string
  /** Replicas, to which everything else refers by their place in this list. */
  readonly replicas: readonly string[]
  readonly loads: readonly (readonly [
    replica: number,
    outstanding: number,
    running: number,
    beganMsAgo: number | null,
    /** As `OwnedSlots` tells them; absent where there are none to tell of, and from gateways before this one. */
    slots?: readonly number[],
  ])[]
  readonly computed: readonly (readonly [
    replica: number,
    tokens: number | null,
    beganMsAgo: number,
    doneMsAgo: number,
  ])[]
  readonly waiting: readonly WaitingItem[]
  /** Requests of which it was told that they wait, and no longer do: with the replica they were placed at, -1 for none. */
  readonly left: readonly (readonly [replica: number, id: number])[]
  /** Prompts that were given to a replica, or parts of them. */
  readonly placed: readonly (readonly [replica: number, blocks: string])[]
  /** Of the requests with ids from the first to the last, those that wait still. */
  readonly still: readonly (readonly [first: number, last: number, ...ids: number[]])[]
}

type WaitingItem = readonly [
  id: number,
  tokens: number,
  waitedMs: number,
  creditMs: number,
  organizationId: string,
  blocks: string,
]

type Lists = Pick<PlacementNotice, 'loads' | 'computed' | 'waiting' | 'left' | 'placed' | 'still'>
type Mutable<List> = { -readonly [Name in keyof List]: List[Name] extends readonly (infer Item)[] ? Item[] : never }

/** PostgreSQL carries notices of less than 8,000 bytes. */
const noticeBytesMax = 7_900
/** The blocks of one item: a block takes a little over nine bytes. */
export const itemBlocksMax = 600

/** Ids of one item: one takes ten bytes at the most, as long as fewer than a thousand million requests have waited. */
const itemIdsMax = 500

/** Writes what is to be told into as many notices as it takes. */
export class NoticeWriter {
  readonly #from: { readonly gateway: string; readonly pool: string }
  readonly #nowMs: number
  readonly #notices: string[] = []
  readonly #replicas = new Map<string, number>()
  #lists: Mutable<Lists> = emptyLists()
  #bytes = 0
  #items = 0

  constructor(from: { readonly gateway: string; readonly pool: string }, nowMs: number) {
    this.#from = from
    this.#nowMs = nowMs
    this.#bytes = this.#emptyBytes
  }

  load({ id, own, slots }: Pick<ReplicaLoad, 'id' | 'own' | 'slots'>): void {
    const { outstanding, running, beganMs } = own
    const ago = beganMs === null ? null : this.#ago(beganMs)
    const told = slots?.tell() ?? []
    this.#add('loads', id, (at) =>
      told.length > 0 ? [at, outstanding, running, ago, told] : [at, outstanding, running, ago],
    )
  }

  computed({ id }: ReplicaLoad, { tokens, beganMs, doneMs }: Computed): void {
    this.#add('computed', id, (at) => [at, tokens, this.#ago(beganMs), this.#ago(doneMs)])
  }

  waiting(id: number, request: WaitingElsewhere): void {
    const { tokens, arrivedMs, creditMs, organizationId, chain } = request
    const blocks = writeBlocks(chain.subarray(0, itemBlocksMax))
    this.#add('waiting', null, () => [id, tokens, this.#ago(arrivedMs), creditMs, organizationId, blocks])
  }

  left(id: number, replica: ReplicaLoad | null): void {
    this.#add('left', replica?.id ?? null, (at) => [at, id])
  }

  /** A long prompt is told in pieces, the last first, so that its first blocks are those that were used last. */
  placed({ id }: ReplicaLoad, chain: BlockChain): void {
    for (let end = chain.length; end > 0; end = Math.max(0, end - itemBlocksMax)) {
      const blocks = writeBlocks(chain.subarray(Math.max(0, end - itemBlocksMax), end))
      this.#add('placed', id, (at) => [at, blocks])
    }
  }

  /** Says which requests up to the last one wait still, by their rising ids. */
  still(ids: readonly number[], lastId: number): void {
    for (let start = 0, first = 0; first <= lastId; start += itemIdsMax) {
      const some = ids.slice(start, start + itemIdsMax)
      const last = start + itemIdsMax < ids.length ? (some.at(-1) ?? lastId) : lastId
      const item = [first, last, ...some] as const
      this.#add('still', null, () => item)
      first = last + 1
    }
  }

  finish(): readonly string[] {
    this.#cut()
    return this.#notices
  }

  #add<Name extends keyof Lists>(
    name: Name,
    replicaId: string | null,
    toItem: (replica: number) => Lists[Name][number],
  ): void {
    const bytes = (at: number) => Buffer.byteLength(JSON.stringify(toItem(at))) + 1
    const named = replicaId === null || this.#replicas.has(replicaId) ? 0 : replicaId.length + 3
    if (this.#bytes + named + bytes(this.#replicas.size) > noticeBytesMax) this.#cut()
    const item = toItem(replicaId === null ? -1 : this.#placeOf(replicaId))
    const list: unknown[] = this.#lists[name]
    list.push(item)
    this.#items += 1
    this.#bytes += Buffer.byteLength(JSON.stringify(item)) + 1
  }

  #placeOf(id: string): number {
    const known = this.#replicas.get(id)
    if (known !== undefined) return known
    this.#bytes += id.length + 3
    this.#replicas.set(id, this.#replicas.size)
    return this.#replicas.size - 1
  }

  #cut(): void {
    if (this.#items === 0) return
    this.#notices.push(JSON.stringify({ ...this.#from, replicas: [...this.#replicas.keys()], ...this.#lists }))
    this.#replicas.clear()
    this.#lists = emptyLists()
    this.#items = 0
    this.#bytes = this.#emptyBytes
  }

  #ago(timeMs: number): number {
    return Math.round(this.#nowMs - timeMs)
  }

  get #emptyBytes(): number {
    return Buffer.byteLength(JSON.stringify({ ...this.#from, replicas: [], ...emptyLists() }))
  }
}

function emptyLists(): Mutable<Lists> {
  return { loads: [], computed: [], waiting: [], left: [], placed: [], still: [] }
}

/** Null for what no gateway writes. */
export function readNotice(text: string): PlacementNotice | null {
  try {
    // Gateways before this one do not say what waits still.
    const notice: Record<string, unknown> = { still: [], ...(JSON.parse(text) as Record<string, unknown>) }
    const lists = [...Object.keys(emptyLists()), 'replicas']
    return lists.every((name) => Array.isArray(notice[name])) ? (notice as unknown as PlacementNotice) : null
  } catch {
    return null
  }
}

/** A block is a whole number below 2⁵². */
const blockBytes = 7
const lowBytes = 4
const lowWord = 2 ** (8 * lowBytes)

function writeBlocks(chain: BlockChain): string {
  const bytes = Buffer.alloc(chain.length * blockBytes)
  for (const [at, block] of chain.entries()) {
    bytes.writeUInt32LE(block % lowWord, at * blockBytes)
    bytes.writeUIntLE(Math.floor(block / lowWord), at * blockBytes + lowBytes, blockBytes - lowBytes)
  }
  return bytes.toString('base64')
}

export function readBlocks(text: string): BlockChain {
  const bytes = Buffer.from(text, 'base64')
  const length = Math.floor(bytes.length / blockBytes)
  return Float64Array.from({ length }, (_, at) => {
    const start = at * blockBytes
    return bytes.readUIntLE(start + lowBytes, blockBytes - lowBytes) * lowWord + bytes.readUInt32LE(start)
  })
}
