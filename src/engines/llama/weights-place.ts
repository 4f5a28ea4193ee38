/** What the C library of a child is told for its large blocks to lie in large pages; others than glibc know nothing of it. */
export const inLargePages: Readonly<Record<string, string>> =
  process.platform === 'linux' ? { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1' } : {}

/** As much again has to be left for answers, and for the file that the system keeps while it is read. */
const shareOfMemory = 0.5

/**
 * Where a child that computes on the processor has its weights: mapped from their file, or copied into memory of its own.
 *
 * Each token reads all of them. Mapped, they lie in pages of 4 KiB wherever the system had some free, and how fast the same weights
 * decode differs by a fifth from one start to the next; in pages of 2 MiB it is the fast end of that, and more.
 * `bench/engine/README.md` has the figures.
 */
export class WeightsPlace {
  #isRuledOut = false

  /** Whether they are copied: where there is room for it in what the child may have, and where none came to its end over it. */
  isCopy(weightsBytes: number, memoryBytesMax: number, availableBytes = process.availableMemory()): boolean {
    const room = Math.min(memoryBytesMax, availableBytes) * shareOfMemory
    return process.platform === 'linux' && !this.#isRuledOut && weightsBytes <= room
  }

  /** A child ended while it loaded its copy: the next one maps its weights. */
  ruleOut(): void {
    this.#isRuledOut = true
  }
}
