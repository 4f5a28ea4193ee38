import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { Contact } from './contact.ts'

function openContact() {
  const clock = createManualClock()
  const contact = new Contact(clock)
  const lastsMs = () => contact.lastsMs(clock.monotonicMs())
  const exchange = (tookMs = 0) => {
    const askedMs = clock.monotonicMs()
    clock.advance(tookMs)
    contact.answered(askedMs)
  }
  const goOn = (seconds: number) => {
    for (let count = 0; count < seconds; count += 1) {
      clock.advance(1_000)
      exchange()
    }
  }
  return { clock, contact, lastsMs, exchange, goOn }
}

test('contact lasts from the first answer on, as long as answers come', () => {
  const { lastsMs, exchange, goOn } = openContact()
  assert.equal(lastsMs(), 0)
  exchange()
  goOn(20)
  assert.equal(lastsMs(), 20_000)
})

test('contact with the database begins anew after a failure, a silence and a slow answer', () => {
  const { clock, contact, lastsMs, exchange, goOn } = openContact()
  exchange()
  goOn(20)
  contact.lost()
  assert.equal(lastsMs(), 0)
  exchange()
  goOn(7)
  assert.equal(lastsMs(), 7_000)
  clock.advance(6_000)
  assert.equal(lastsMs(), 0)
  exchange()
  goOn(7)
  exchange(6_000)
  assert.equal(lastsMs(), 0)
})

test('an answer to a question from before an outage is no contact', () => {
  const { clock, contact, exchange, goOn } = openContact()
  exchange()
  goOn(20)
  const askedMs = clock.monotonicMs()
  assert.equal(contact.lastsMs(askedMs), 20_000)
  clock.advance(60_000)
  assert.equal(contact.lastsMs(askedMs), 0)
})
