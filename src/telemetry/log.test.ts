import { deepEqual, equal, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { suite, test } from 'node:test'

const module = JSON.stringify(new URL('./log.ts', import.meta.url).href)

/** Runs a program that has a log, and tells how it ended and what it has logged. */
function run(program: string, environment: NodeJS.ProcessEnv = {}) {
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', `import { createLog } from ${module}\nconst log = createLog('info')\n${program}`],
    { env: { ...process.env, ...environment } },
  )
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (part: string) => (text += part))
  const messages = () =>
    text
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => (JSON.parse(line) as { readonly msg: string }).msg)
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return { child, messages, ended }
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000
  while (!isSo() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20))
}

suite('no line is lost', () => {
  test('all lines are written when the process exits', async () => {
    const { messages, ended } = run(`for (let i = 0; i < 500; i++) log.info('line ' + i)\nprocess.exit(3)`)
    equal(await ended, 3)
    deepEqual(
      messages(),
      Array.from({ length: 500 }, (_, index) => `line ${index}`),
    )
  })

  test('lines keep their order where the process exits before a write has begun', async () => {
    // The one thread for files has something else to do first, for some 40 ms by what this machine does at the moment: much less
    // than a writer waits for it at the exit.
    const busy = `
      import { pbkdf2, pbkdf2Sync } from 'node:crypto'
      const beganMs = performance.now()
      pbkdf2Sync('a', 'b', 5_000, 32, 'sha256')
      const iterations = Math.ceil((5_000 * 40) / (performance.now() - beganMs))
      pbkdf2('a', 'b', iterations, 32, 'sha256', () => {})
    `
    const { messages, ended } = run(`${busy}\nlog.warn('first')\nlog.info('second')\nprocess.exit(3)`, {
      UV_THREADPOOL_SIZE: '1',
    })
    equal(await ended, 3)
    deepEqual(messages(), ['first', 'second'])
  })

  test('all lines are written when the process ends because nothing is left to do', async () => {
    const { messages, ended } = run(`log.info('first')\nlog.warn('second')\nlog.info('third')`)
    equal(await ended, 0)
    deepEqual(messages(), ['first', 'second', 'third'])
  })

  test('lines before an error that nobody catches are written', async () => {
    const { messages, ended } = run(`log.info('before')\nsetTimeout(() => { throw new Error('unexpected') }, 10)`)
    equal(await ended, 1)
    deepEqual(messages(), ['before'])
  })
})

test('a line that waited for others is written soon, though the process lives on and says nothing more', async () => {
  const { child, messages, ended } = run(`setTimeout(() => log.info('alone'), 1_500)\nsetTimeout(() => {}, 60_000)`)
  await until(() => messages().length > 0)
  deepEqual(messages(), ['alone'])
  child.kill('SIGKILL')
  await ended
})

test('a warning does not wait, and brings along what waited before it', async () => {
  // The process is killed before gathered lines would be written.
  const { messages, ended } = run(
    `log.info('before')\nlog.warn('warning')\nsetTimeout(() => process.kill(process.pid, 'SIGKILL'), 200)`,
  )
  ok((await ended) === null)
  deepEqual(messages(), ['before', 'warning'])
})

suite('a process whose lines nobody reads any more ends all the same', () => {
  for (const [what, level] of [
    ['the gathered lines are what first meets the closed pipe', 'info'],
    ['a warning met it before', 'warn'],
  ] as const) {
    test(what, { timeout: 20_000 }, async () => {
      const { child, ended } = run(
        `process.stdin.once('data', () => { log.${level}('said'); log.info('last'); setTimeout(() => process.exit(7), 50) })`,
      )
      child.stderr.destroy()
      child.stdin.end('the reader is gone')
      equal(await ended, 7)
    })
  }

  test('lines go on to be written after a pipe that was full', { timeout: 20_000 }, async () => {
    const { child, messages, ended } = run(
      `for (let i = 0; i < 3_000; i++) log.warn('line ' + i + ' é'.repeat(100))\nsetTimeout(() => log.info('last'), 500)`,
    )
    child.stderr.pause()
    setTimeout(() => child.stderr.resume(), 1_000)
    equal(await ended, 0)
    equal(messages().length, 3_001)
    equal(messages().at(-1), 'last')
  })
})
