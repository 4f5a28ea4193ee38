import { readFile } from 'node:fs/promises'
import type { Clock } from '../../../lib/clock.ts'

/** Memory is written at some gigabytes a second, so a child is seen soon after it has gone too far. */
const lookEveryMs = 250

/** Bytes that only this process has in memory or swapped out. The pages of weights that it maps are the file's, not its own. */
async function readOwnBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const kilobytes = [...status.matchAll(/^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$/gm)]
  return kilobytes.reduce((sum, [, value]) => sum + Number(value) * 1_024, 0)
}

/** Calls `onExceeded` once when a child has more memory than it may. Returns the way to stop. */
export function watchMemory(
  pid: number | undefined,
  {
    bytesMax,
    clock,
    onExceeded,
  }: { readonly bytesMax: number; readonly clock: Clock; onExceeded(bytes: number): void },
): () => void {
  let isStopped = process.platform !== 'linux'
  let cancel = () => {}
  const look = async () => {
    const bytes = pid === undefined ? 0 : await readOwnBytes(pid).catch(() => 0)
    if (isStopped) return
    if (bytes > bytesMax) return onExceeded(bytes)
    cancel = clock.after(lookEveryMs, () => void look())
  }
  if (!isStopped) void look()
  return () => {
    isStopped = true
    cancel()
  }
}
