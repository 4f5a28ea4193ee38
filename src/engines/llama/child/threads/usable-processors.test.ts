import { deepEqual, equal } from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { parseProcessorList } from './processor-use.ts'
import { processorQuota, usableProcessors } from './usable-processors.ts'

const isLinux = process.platform === 'linux'

/** A root folder in which a process finds what its control groups say. */
function quotaIn(files: Readonly<Record<string, string>>): number {
  const root = mkdtempSync(join(tmpdir(), 'odyssey-cgroup-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(root, dirname(path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    return processorQuota(root)
  } finally {
    rmSync(root, { recursive: true })
  }
}

test('the quota of a container counts, in both versions of control groups', { skip: !isLinux }, () => {
  equal(quotaIn({ 'proc/self/cgroup': '0::/\n', 'sys/fs/cgroup/cpu.max': '150000 100000\n' }), 1.5)
  equal(quotaIn({ 'proc/self/cgroup': '0::/\n', 'sys/fs/cgroup/cpu.max': 'max 100000\n' }), Infinity)
  const legacy = {
    'proc/self/cgroup': '4:memory:/x\n1:cpu,cpuacct:/service\n',
    'sys/fs/cgroup/cpu,cpuacct/service/cpu.cfs_period_us': '100000\n',
  }
  equal(quotaIn({ ...legacy, 'sys/fs/cgroup/cpu,cpuacct/service/cpu.cfs_quota_us': '300000\n' }), 3)
  equal(quotaIn({ ...legacy, 'sys/fs/cgroup/cpu,cpuacct/service/cpu.cfs_quota_us': '-1\n' }), Infinity)
  equal(quotaIn({}), Infinity)
})

test('the smallest quota of all groups around a process counts', { skip: !isLinux }, () => {
  const files = {
    'proc/self/cgroup': '0::/outer/inner\n',
    'sys/fs/cgroup/outer/cpu.max': '200000 100000\n',
    'sys/fs/cgroup/outer/inner/cpu.max': '800000 100000\n',
  }
  equal(quotaIn(files), 2)
})

test('a quota of less than a processor leaves one thread', () => {
  equal(usableProcessors() >= 1, true)
})

test('the list of processors that a process may use is read', () => {
  deepEqual([...parseProcessorList('0-3,8')], [0, 1, 2, 3, 8])
  deepEqual([...parseProcessorList('0')], [0])
})
