import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { hasNvidiaCard, missingForCuda, nvidiaDriver, type Looks } from './nvidia-card.ts'

const cuda = ['libcudart.so.13', 'libcublas.so.13', 'libcublasLt.so.13']
const driver = ['libcuda.so.1', 'libnvidia-ml.so.1']

/** A file system with these files, and the folders they lie in. */
function machine(files: readonly string[], hasBuild = true): Looks {
  const isBelow = (path: string) => (file: string) => file === path || file.startsWith(`${path}/`)
  return {
    exists: (path) => files.some(isBelow(path)),
    list: (path) => [
      ...new Set(
        files.filter((file) => file.startsWith(`${path}/`)).map((file) => file.slice(path.length + 1).split('/')[0]!),
      ),
    ],
    hasBuild: () => hasBuild,
  }
}
const within = (folder: string, names: readonly string[]) => names.map((name) => `${folder}/${name}`)

test('a machine has a card where its driver left a trace', { skip: process.platform !== 'linux' }, () => {
  equal(hasNvidiaCard(machine(['/dev/nvidiactl'])), true)
  equal(hasNvidiaCard(machine(['/dev/dri/renderD128'])), false)
})

test('nothing is missing where the driver and CUDA lie where they are installed', () => {
  const targets = '/usr/local/cuda-13.0/targets/x86_64-linux/lib'
  deepEqual(missingForCuda({}, machine([...within('/usr/lib', driver), ...within(targets, cuda)])), [])
  deepEqual(missingForCuda({ LD_LIBRARY_PATH: '/a:/b' }, machine([...within('/a', driver), ...within('/b', cuda)])), [])
})

test('a driver alone lacks the libraries of CUDA, and a build that was not installed is said', () => {
  deepEqual(missingForCuda({}, machine(within('/usr/lib', driver))), cuda)
  deepEqual(missingForCuda({}, machine([...within('/usr/lib', [...driver, ...cuda])], false)), ['build'])
})

test('libraries of two versions make no whole one', () => {
  const mixed = ['libcudart.so.12', 'libcublas.so.13', 'libcublasLt.so.13']
  deepEqual(missingForCuda({}, machine(within('/usr/lib', [...driver, ...mixed]))), ['libcudart.so.13'])
})

test("the driver's version is read from what the kernel says of it", () => {
  const said = 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (dvs-builder@U22)'
  equal(
    nvidiaDriver(() => said),
    580.159,
  )
  equal(
    nvidiaDriver(() => ''),
    null,
  )
})
