import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

/** A test that is expected to fail for now (`todo`) and does: it is shown as to do, and fails no run. */
export function isKnownGap({ type, data }: TestEvent): boolean {
  return type === 'test:fail' && data.todo !== undefined && data.todo !== false
}

/** Lets the usual reporter name known gaps without their stacks, beside which a real failure would be hard to find. */
export async function* withoutKnownGaps(events: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  for await (const event of events) yield isKnownGap(event) ? ({ ...event, type: 'test:pass' } as TestEvent) : event
}

/**
 * One line about a test that failed; null for a known gap, and for a suite or a file in which a test failed.
 *
 * An error that comes after the test that caused it has ended fails the file and no test. The runner tells about it beside
 * the tests, among thousands of lines, so that has a line too.
 */
export function describeFailure(event: Extract<TestEvent, { type: 'test:fail' | 'test:diagnostic' }>): string | null {
  if (event.type === 'test:diagnostic') return event.data.message.startsWith('Error: ') ? event.data.message : null
  const { name, file, line, details } = event.data
  const { error } = details
  if (isKnownGap(event) || ('failureType' in error && error.failureType === 'subtestsFailed')) return null
  const place = file === undefined ? '' : ` (${relative(process.cwd(), file)}:${line})`
  return `${name}${place}: ${firstLine(error.cause ?? error)}`
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n', 1)[0]?.slice(0, 200) ?? ''
}
