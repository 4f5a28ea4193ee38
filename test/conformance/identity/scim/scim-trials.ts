import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Installation } from '../installation.ts'
import type { Verdicts } from '../verdicts.ts'
import { runOktaRequests } from './okta-requests.ts'

const run = promisify(execFile)
type Directory = { readonly url: string; readonly token: string }

/** Lets judges of SCIM that others have written look at a directory each. */
export async function tryJudges(verdicts: Verdicts, installation: Installation, python: string): Promise<void> {
  const open = () => openDirectory(installation)
  await verdicts.try('scim2-tester', 'no error in any check', async () => runTester(python, await open()))
  await verdicts.try('scim-sanity', 'no probe failed', async () => runSanity(python, await open()))
}

/** Sends what Okta publishes for whoever speaks SCIM with it. */
export async function tryOkta(verdicts: Verdicts, installation: Installation, file: string): Promise<void> {
  await verdicts.try('Okta', 'its published requests are answered as it expects', async () =>
    runOktaRequests(file, await openDirectory(installation)),
  )
}

async function openDirectory({ origin, command }: Installation): Promise<Directory> {
  const { token } = await command('directory', 'create', '--name', 'Judge')
  return { url: `${origin}/scim/v2`, token: String(token) }
}

type Check = { readonly status: string; readonly title: string; readonly of: string; readonly reason: string }

async function runTester(python: string, { url, token }: Directory): Promise<string> {
  const script = join(import.meta.dirname, 'run_tester.py')
  const { stdout } = await run(join(python, 'python'), [script, url], { env: { SCIM_TOKEN: token }, timeout: 120_000 })
  const checks = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Check]))
  const wrong = checks.filter(({ status }) => status === 'ERROR' || status === 'CRITICAL')
  const words = wrong.map(({ title, of, reason }) => `${title} ${of}: ${reason}`)
  if (checks.length < 100) throw new Error(`There were ${checks.length} checks only.`)
  if (words.length > 0) throw new Error(words.join('; '))
  const deviations = checks.filter(({ status }) => status === 'DEVIATION').length
  return `${checks.length} checks, ${deviations} deviations from what is recommended`
}

async function runSanity(python: string, { url, token }: Directory): Promise<string> {
  const args = ['probe', url, '--token', token, '--strict', '--i-accept-side-effects']
  const { stdout } = await run(join(python, 'scim-sanity'), args, { timeout: 120_000 }).catch((error: unknown) => {
    // It ends with 1 where a probe failed, and says which.
    const { stdout: said } = error as { readonly stdout?: string }
    if (said === undefined || said === '') throw error
    return { stdout: said }
  })
  const [, passed = '0', failed = '?', skipped = '?'] =
    /(\d+) passed(?:, (\d+) failed)?(?:, (\d+) skipped)?/.exec(stdout) ?? []
  const failures = [...stdout.matchAll(/\[(?:FAIL|ERROR|WARN)\][^[]*/g)].map(([text]) => text.trim())
  if (failures.length > 0 || Number(passed) < 20) throw new Error(`${failed} failed: ${failures.join('; ')}`)
  return `${passed} probes, ${skipped} skipped, of kinds that are no part of SCIM 2.0`
}
