import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, describe, it, run } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import { describeFailure, withoutKnownGaps } from './failures.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-failures-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** The runner runs nothing where it finds that it is in a test already, so for a while it does not. */
async function eventsOf(source: string): Promise<readonly TestEvent[]> {
  const file = join(folder, 'scratch.test.mjs')
  writeFileSync(file, `import { describe, it } from 'node:test'\n${source}`)
  const { NODE_TEST_CONTEXT: context } = process.env
  delete process.env['NODE_TEST_CONTEXT']
  try {
    return await Array.fromAsync(run({ files: [file] }) as AsyncIterable<TestEvent>)
  } finally {
    if (context !== undefined) process.env['NODE_TEST_CONTEXT'] = context
  }
}

const failuresOf = (events: readonly TestEvent[]) =>
  events
    .flatMap((event) =>
      event.type === 'test:fail' || event.type === 'test:diagnostic' ? [describeFailure(event)] : [],
    )
    .filter((one) => one !== null)

describe('the report of failures', () => {
  it('names a test that failed once, with its place and the first line of its error', async () => {
    const events = await eventsOf(
      `describe('outer', () => it('inner', () => { throw new Error('first line\\nsecond line') }))`,
    )
    assert.equal(failuresOf(events).length, 1)
    assert.match(failuresOf(events)[0] ?? '', /^inner \(.*scratch\.test\.mjs:2\): first line$/)
  })

  it('names a file that does not load', async () => {
    assert.equal(failuresOf(await eventsOf(`throw new Error('broken')`)).length, 1)
  })

  it('names an error that comes after the test that caused it has ended', async () => {
    const events = await eventsOf(
      `it('early', () => void setTimeout(() => { throw new Error('came late') }, 20))
      it('last', () => new Promise((resolve) => setTimeout(resolve, 100)))`,
    )
    assert.match(failuresOf(events).join('\n'), /"early".*came late/)
  })

  it('passes over a test that is expected to fail, which the usual reporter then shows as to do', async () => {
    const events = await eventsOf(`it('gap', { todo: 'not yet' }, () => { throw new Error('known') })`)
    assert.deepEqual(failuresOf(events), [])
    const shown = await Array.fromAsync(withoutKnownGaps(Readable.from(events)))
    assert.equal(shown.filter(({ type }) => type === 'test:fail').length, 0)
  })
})
