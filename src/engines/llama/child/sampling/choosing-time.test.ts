import { ok } from 'node:assert/strict'
import { test } from 'node:test'
import { ChoosingTime } from './choosing-time.ts'

function work(ms: number): void {
  for (const untilMs = performance.now() + ms; performance.now() < untilMs;);
}

test('what an answer waited for others before its turn is not its own time', () => {
  const time = new ChoosingTime()
  const fromMs = performance.now()
  work(20)
  const first = time.since(fromMs)
  work(5)
  const second = time.since(fromMs)
  ok(first >= 20, `${first} ms`)
  ok(second >= 5 && first + second <= performance.now() - fromMs, `${second} ms`)
})
