import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { SlotShares } from './slot-shares.ts'

const slots = 8
const of = (organizationId: string, apiKeyId = `key_${organizationId}`) => ({ organizationId, apiKeyId })

/** Begins as often as it may, and returns how often that was. */
function flood(shares: SlotShares, owner: ReturnType<typeof of>, nowMs: number, running = 0): number {
  let begun = 0
  while (running + begun < slots && shares.mayBegin(owner, slots, nowMs)) {
    shares.begin(owner, nowMs)
    begun += 1
  }
  return begun
}

test('one who is alone has all slots', () => {
  equal(flood(new SlotShares(), of('a'), 0), slots)
})

test('a slot stays free for somebody who asked a moment ago', () => {
  const shares = new SlotShares()
  shares.begin(of('quiet'), 0)
  shares.end(of('quiet'), 1_000)
  equal(flood(shares, of('flooder'), 2_000), slots - 1)
  equal(shares.mayBegin(of('quiet'), slots, 3_000), true)
})

test('an organization keeps as many slots free as it used at once, and no more than an equal share', () => {
  const shares = new SlotShares()
  for (let count = 0; count < 3; count++) shares.begin(of('quiet'), 0)
  for (let count = 0; count < 3; count++) shares.end(of('quiet'), 10)
  equal(flood(shares, of('flooder'), 20), slots - 3)
  const greedy = new SlotShares()
  equal(flood(greedy, of('first'), 0), slots)
  for (let count = 0; count < slots; count++) greedy.end(of('first'), 10)
  equal(flood(greedy, of('second'), 20), slots / 2)
})

test('an organization that has not asked for half a minute has no claim to a slot any more', () => {
  const shares = new SlotShares()
  shares.begin(of('quiet'), 0)
  shares.end(of('quiet'), 1_000)
  equal(flood(shares, of('flooder'), 40_000), slots)
})

test('keys of one organization share its slots in the same way', () => {
  const shares = new SlotShares()
  shares.begin(of('one', 'key_quiet'), 0)
  shares.end(of('one', 'key_quiet'), 1_000)
  equal(flood(shares, of('one', 'key_flooder'), 2_000), slots - 1)
  equal(shares.mayBegin(of('one', 'key_quiet'), slots, 2_000), true)
})

test('more claimants than slots get theirs in turn', () => {
  const shares = new SlotShares()
  for (let number = 0; number < 20; number++) {
    shares.begin(of(`org_${number}`), 0)
    shares.end(of(`org_${number}`), 1)
  }
  equal(shares.mayBegin(of('org_3'), slots, 2), true)
  equal(shares.mayBegin(of('org_new'), slots, 2), true)
})

test('none of two slots is kept free', () => {
  const shares = new SlotShares()
  shares.begin(of('quiet'), 0)
  shares.end(of('quiet'), 1_000)
  equal(shares.mayBegin(of('flooder'), 2, 2_000), true)
  shares.begin(of('flooder'), 2_000)
  equal(shares.mayBegin(of('flooder'), 2, 2_000), true)
})
