// The image of deploy/container is built and run as its page says: with a root that cannot be written, as user 10001,
// without capabilities. It answers in both formats, ends what is under way when it is stopped, and keeps its data.

import { equal, match, ok } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { configFileSchema } from '../../../src/config/schema.ts'
import { until } from '../../harness/start-service.ts'
import { checkAnswer } from '../answers.ts'
import { checkErrorResponse } from '../bodies/error-bodies.ts'
import { Failures, pause, quantile, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { randomText } from '../plain-requests.ts'
import { createRandom } from '../random.ts'
import { authorize, exchange } from '../raw-http.ts'
import { buildImage, podman, podmanLog, succeeds } from './podman.ts'

const root = join(import.meta.dirname, '../../..')
const megabytesMax = 300
const startMsMax = 120_000
const { drainSeconds } = configFileSchema.parse({}).server

type Run = { readonly container: string; readonly address: string; readonly key: string; readonly startedMs: number }

/** A round starts a container on the data of the one before, asks it, and stops it while it answers. */
export async function runContainer({ count, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const tag = `localhost/odyssey:campaign-${randomBytes(4).toString('hex')}`
  const volume = `odyssey-campaign-${randomBytes(4).toString('hex')}`
  const startsMs: number[] = []
  const stopsMs: number[] = []
  await buildImage(root, tag, log)
  try {
    const megabytes = Number(await podman('image', 'inspect', '--format', '{{.Size}}', tag)) / 1e6
    failures.check('the size', () => ok(megabytes <= megabytesMax, `${megabytes.toFixed(0)} MB`))
    let key: string | null = null
    for (let round = 0; round < count; round++) {
      const run: Run = await start(tag, volume, key)
      key = run.key
      startsMs.push(run.startedMs)
      try {
        await checkRun(run, `round ${round}`, failures)
        stopsMs.push(await checkStop(run, `round ${round}`, failures))
      } finally {
        await podman('rm', '--force', run.container)
      }
      log(
        `round ${round + 1}: started in ${Math.round(run.startedMs)} ms, stopped in ${Math.round(stopsMs.at(-1) ?? 0)}`,
      )
    }
    return failures.toResult({
      'size (MB)': Math.round(megabytes),
      'healthy within, median (ms)': Math.round(quantile(startsMs, 0.5)),
      'stopped within, longest (ms)': Math.round(Math.max(...stopsMs)),
    })
  } finally {
    await podman('volume', 'rm', '--force', volume)
    await podman('rmi', tag)
  }
}

async function start(tag: string, volume: string, knownKey: string | null): Promise<Run> {
  const beganMs = performance.now()
  // The host's network, since a bridge is not to be had everywhere; on loopback and a free port.
  const place = ['--network', 'host', '--env', 'HOST=127.0.0.1', '--env', 'PORT=0', '--volume', `${volume}:/data`]
  const bounds = ['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'all', '--security-opt', 'no-new-privileges']
  const patience = ['--stop-timeout', String(drainSeconds + 30)]
  const container = await podman('run', '--detach', ...bounds, ...patience, ...place, tag)
  try {
    await until(() => succeeds(container, 'odyssey', 'health'), 'The container does not become healthy.', startMsMax)
  } catch (error) {
    const said = await podmanLog(container)
    await podman('rm', '--force', container)
    throw new Error(said, { cause: error })
  }
  const startedMs = performance.now() - beganMs
  const { address } = JSON.parse(await podman('exec', container, 'cat', '/data/service.json')) as { address: string }
  const key = knownKey ?? (await podman('exec', container, 'cat', '/data/first-api-key'))
  return { container, address, key, startedMs }
}

async function checkRun({ container, address, key }: Run, label: string, failures: Failures): Promise<void> {
  const user = await podman('exec', container, 'id', '-u')
  failures.check(label, () => equal(user, '10001', 'the user'))
  const writes = await succeeds(container, 'touch', '/opt/odyssey/written')
  failures.check(label, () => ok(!writes, 'the root can be written'))
  for (const { path, shape } of formats) {
    const response = await exchange(address, { path, headers: authorize(key), body: question(false) })
    failures.check(`${label}, ${shape}`, () => {
      equal(response.status, 200, response.text.slice(0, 300))
      checkAnswer(response, path, shape)
    })
  }
  const page = await fetch(`${address}/login`, { headers: { accept: 'text/html' } })
  const text = await page.text()
  failures.check(label, () => match(text, /<script type="module"/))
}

const formats = [
  { path: '/v1/chat/completions', shape: 'chat' },
  { path: '/v1/messages', shape: 'messages' },
] as const

function question(isStream: boolean, content = 'Sort these words: pear, apple, fig, plum, kiwi.'): string {
  return JSON.stringify({ model: 'hal-1.0', max_tokens: 300, stream: isStream, messages: [{ role: 'user', content }] })
}

/** Streams under way at a stop take about so long here, well within the drain: podman itself takes long to stop anything. */
const streamsMs = 30_000
/** More than there are slots. */
const streamsMin = 9
const streamsMax = 40
const patienceMs = (drainSeconds + 30) * 1_000

/** Stops it in the midst of streams, which all must be whole. Returns how long that took. */
async function checkStop(run: Run, label: string, failures: Failures): Promise<number> {
  const { container } = run
  const aloneFromMs = performance.now()
  await askStream(run, 0).response
  const fitting = Math.round(streamsMs / (performance.now() - aloneFromMs))
  const streams = Math.min(Math.max(fitting, streamsMin), streamsMax)
  const asked = Array.from({ length: streams }, (_, number) => askStream(run, number + 1))
  await pause(50)
  const beganMs = performance.now()
  await podman('stop', container)
  const tookMs = performance.now() - beganMs
  const log = await podmanLog(container)
  let whole = 0
  for (const { path, shape, response } of asked) {
    const answer = await response
    if (answer.status === 200) whole += 1
    failures.check(`${label}, ${shape} stream at the stop`, () => {
      if (answer.status === 200) return checkAnswer(answer, path, shape)
      // What came after the signal may be refused, in the right form.
      equal(answer.status, shape === 'chat' ? 503 : 529, answer.text.slice(0, 300))
      checkErrorResponse(answer, shape)
    })
  }
  const underWay = Number(/"under_way":(\d+)/.exec(log)?.[1])
  failures.check(label, () => ok(underWay > 0, 'nothing was under way at the stop'))
  failures.check(label, () => ok(whole >= underWay, `of ${underWay} answers under way at the stop ${whole} are whole`))
  failures.check(label, () => match(log, /"msg":"engine confined/))
  const exitCode = await podman('inspect', '--format', '{{.State.ExitCode}}', container)
  failures.check(label, () => equal(exitCode, '0', 'the exit code'))
  failures.check(label, () => ok(tookMs < drainSeconds * 1_000, `the stop took ${Math.round(tookMs)} ms`))
  return tookMs
}

/** Asks with a prompt that shares its beginning with no other and takes a while. */
function askStream({ address, key }: Run, number: number) {
  const format = formats[number % formats.length]!
  const body = question(true, randomText(createRandom(number), 1_000))
  return { ...format, response: exchange(address, { path: format.path, headers: authorize(key), body }, patienceMs) }
}
