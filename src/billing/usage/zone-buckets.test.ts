import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { bucketStarts, UnusableZone, type BucketKind } from './zone-buckets.ts'

const starts = (bucket: BucketKind, zone: string, from: string, to: string) =>
  bucketStarts({ bucket, zone, fromMs: Date.parse(from), toMs: Date.parse(to) }).map((ms) => new Date(ms).toISOString())

test('days of UTC begin at midnight, and the first with the time itself', () => {
  deepEqual(starts('day', 'UTC', '2026-11-01T05:00:00Z', '2026-11-03T01:00:00Z'), [
    '2026-11-01T05:00:00.000Z',
    '2026-11-02T00:00:00.000Z',
    '2026-11-03T00:00:00.000Z',
  ])
})

test('the days on which Berlin changes its clocks have 23 and 25 hours', () => {
  const spring = starts('day', 'Europe/Berlin', '2026-03-28T23:00:00Z', '2026-03-30T22:00:00Z')
  deepEqual(spring, ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'])
  const autumn = starts('day', 'Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-26T23:00:00Z')
  deepEqual(autumn, ['2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'])
})

test('weeks begin on Monday, and months with their first day, by the clock of the zone', () => {
  deepEqual(starts('week', 'UTC', '2026-11-02T00:00:00Z', '2026-11-16T00:00:00Z'), [
    '2026-11-02T00:00:00.000Z',
    '2026-11-09T00:00:00.000Z',
  ])
  deepEqual(starts('month', 'America/New_York', '2026-10-15T00:00:00Z', '2026-12-02T00:00:00Z'), [
    '2026-10-15T00:00:00.000Z',
    '2026-11-01T04:00:00.000Z',
    '2026-12-01T05:00:00.000Z',
  ])
})

test('every hour of a year in a zone lies in one bucket', () => {
  equal(starts('hour', 'Europe/Berlin', '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z').length, 8_760)
  equal(starts('day', 'Pacific/Auckland', '2025-12-31T11:00:00Z', '2026-12-31T11:00:00Z').length, 365)
})

test('a zone that is half an hour off, or none at all, is refused', () => {
  throws(() => starts('day', 'Asia/Kolkata', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'), UnusableZone)
  throws(() => starts('day', 'Mars/Olympus', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'), UnusableZone)
})
