import { deepEqual, equal, ok } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { configFileSchema } from '../../src/config/schema.ts'

const root = join(import.meta.dirname, '../..')
const unit = readFileSync(join(root, 'deploy/systemd/odyssey.service'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'odyssey-unit-'))
after(() => rmSync(folder, { recursive: true }))

// What it starts is looked for, so it is what is here.
const path = join(folder, 'odyssey.service')
writeFileSync(path, unit.replace('/usr/bin/node /opt/odyssey', `${process.execPath} ${root}`))

const analyze = (...words: string[]) => spawnSync('systemd-analyze', [...words, path], { encoding: 'utf8' })
const skip = analyze('--version').status === 0 ? false : 'there is no systemd-analyze on this machine'

test('systemd finds no fault in the unit', { skip }, () => {
  const { status, stderr } = analyze('verify')
  deepEqual([status, stderr], [0, ''])
})

test('the exposure of the unit is 2.0 at most', { skip }, () => {
  const { status, stdout } = analyze('security', '--offline=true', '--no-pager', '--threshold=20')
  equal(status, 0, stdout)
})

test('the unit waits for answers under way longer than the service does', () => {
  const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])
  ok(seconds > configFileSchema.parse({}).server.drainSeconds + 20)
})
