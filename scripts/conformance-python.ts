// npm run conformance:python   the Python libraries, where a Python and a package index are at hand
//
// Not part of npm test: it installs packages, into a folder that it removes again.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Listening } from '../test/conformance/clients/client.ts'
import { writeTable } from '../test/conformance/clients-table.ts'
import { startFaultyService, type FaultyService } from '../test/conformance/faults/faulty-service.ts'
import { ways } from '../test/conformance/faults/outcome.ts'
import { judge, situations } from '../test/conformance/faults/situations.ts'
import { installPython, runScript } from '../test/conformance/python/run-python.ts'
import { startWeatherService } from '../test/conformance/weather-model.ts'
import { startService } from '../test/harness/start-service.ts'

type CheckLine = { readonly check: string; readonly fault: string | null }
type FaultLine = { readonly service: string; readonly text: string | null; readonly error: string | null }
type Result = { readonly name: string; readonly fault: string | null }

const scripts: Readonly<Record<string, string>> = { openai: 'openai_sdk.py', anthropic: 'anthropic_sdk.py' }

const home = mkdtempSync(join(tmpdir(), 'odyssey-python-'))
process.once('exit', () => rmSync(home, { recursive: true, force: true }))
process.exitCode = await main()

async function main(): Promise<number> {
  const python = installPython(home)
  const rows: string[][] = []
  let failures = 0
  for (const [library, script] of Object.entries(scripts)) {
    const checks = await runChecks(python, script)
    const faults = await runFaults(python, script)
    for (const { name, fault } of [...checks, ...faults]) {
      console.log(`${fault === null ? '✔' : '✖'} ${library}: ${name}${fault === null ? '' : `: ${fault}`}`)
      if (fault !== null) failures += 1
    }
    rows.push([`\`${library}\` for Python`, versionOf(library), tally(checks), tally(faults)])
  }
  writeTable('python', { header: ['Client', 'Version', 'Checks', 'Faults'], rows })
  if (!runsDocumentation(python)) failures += 1
  return failures === 0 ? 0 : 1
}

/** Whether each Python snippet of the documentation runs. */
function runsDocumentation(python: string): boolean {
  const files = ['snippets', 'client-pages'].map((name) => join(import.meta.dirname, `../test/docs/${name}.test.ts`))
  const env = { ...process.env, ODYSSEY_TEST_PYTHON: python }
  const tests = ['--test', '--test-force-exit', '--test-name-pattern=in Python', ...files]
  return spawnSync(process.execPath, tests, { env, stdio: 'inherit' }).status === 0
}

async function runChecks(python: string, script: string): Promise<Result[]> {
  const engine = await startService()
  const scripted = await startWeatherService()
  try {
    const lines = await runScript<CheckLine>(python, [script], {
      engine: listening(engine),
      scripted: listening(scripted),
    })
    return lines.map(({ check, fault }) => ({ name: check, fault }))
  } finally {
    await scripted.close()
    await engine.stop()
  }
}

/** A service for each fault and way, so that what it counts is that asking's. */
async function runFaults(python: string, script: string): Promise<Result[]> {
  const services = new Map<string, FaultyService>()
  for (const [name, { faults }] of Object.entries(situations)) {
    for (const way of ways) services.set(`fault:${name}:${way}`, await startFaultyService(faults))
  }
  const all = Object.fromEntries([...services].map(([name, service]) => [name, listening(service)]))
  const lines = await runScript<FaultLine>(python, [script, 'faults'], all)
  const results = lines.map(({ service: id, text, error }) => {
    const [, name = '', way = ''] = id.split(':')
    const service = services.get(id)
    const situation = situations[name]
    if (service === undefined || situation === undefined) throw new Error(`Nobody asked for ${id}.`)
    const endings = situation.endings[way === 'whole' ? 'whole' : 'streamed']
    const fault = judge(endings, { text, requests: service.arrivalsMs.length })
    return { name: `${name}, ${way}`, fault: fault === null ? null : `${fault}; ${error}` }
  })
  if (results.length !== services.size) results.push({ name: 'all faults', fault: 'some were not asked' })
  for (const service of services.values()) await service.close()
  return results
}

function listening({ address, key }: Listening): Listening {
  return { address, key }
}

function tally(results: readonly Result[]): string {
  return `${results.filter(({ fault }) => fault === null).length} of ${results.length}`
}

function versionOf(library: string): string {
  const requirements = readFileSync(join(import.meta.dirname, '../test/conformance/python/requirements.txt'), 'utf8')
  return new RegExp(`^${library}==(.+)$`, 'm').exec(requirements)?.[1] ?? ''
}
