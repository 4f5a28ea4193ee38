import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'

/**
 * Counts the processors that this process may keep busy: its affinity, and the quota (CFS bandwidth) of its container.
 *
 * A thread beyond the quota is paid for by all of them: the kernel stops the whole container until its next period.
 */
export function usableProcessors(root = '/'): number {
  return Math.max(1, Math.min(availableParallelism(), Math.floor(processorQuota(root))))
}

/** The smallest quota of all control groups that this process is in, version 1 or 2; infinite where there is none. */
export function processorQuota(root = '/'): number {
  if (process.platform !== 'linux') return Infinity
  const memberships = (readText(join(root, 'proc/self/cgroup')) ?? '').split('\n')
  const quotas = memberships.flatMap((line) => {
    const [, id = '', controllers = '', path = ''] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? []
    const names = controllers.split(',')
    if (id === '0') return upwards(path).map((group) => quotaOf(join(root, 'sys/fs/cgroup', group)))
    if (!names.includes('cpu')) return []
    return upwards(path).map((group) => legacyQuotaOf(join(root, 'sys/fs/cgroup', controllers, group)))
  })
  return Math.min(Infinity, ...quotas)
}

/** A group, those it lies in, and the root, which is the group itself where the container sees no other. */
function upwards(path: string): string[] {
  const above = dirname(path)
  return above === path || path === '' ? ['/'] : [path, ...upwards(above)]
}

function quotaOf(folder: string): number {
  const [quota, period] = (readText(join(folder, 'cpu.max')) ?? '').split(/\s/).map(Number)
  return toProcessors(quota, period)
}

function legacyQuotaOf(folder: string): number {
  const read = (name: string) => Number(readText(join(folder, name)) ?? Number.NaN)
  return toProcessors(read('cpu.cfs_quota_us'), read('cpu.cfs_period_us'))
}

/** No quota is the word `max` in version 2, and -1 in version 1. */
function toProcessors(quota = Number.NaN, period = Number.NaN): number {
  return quota > 0 && period > 0 ? quota / period : Infinity
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
