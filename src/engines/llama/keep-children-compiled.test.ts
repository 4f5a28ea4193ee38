import { equal } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { until } from '../../../test/harness/start-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-children-'))
const elsewhere = mkdtempSync(join(tmpdir(), 'odyssey-children-'))
const addressOf = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)

/** Whether a child that begins now compiles TypeScript itself; Node loads its stripper for nothing else. */
const asChild = `
  await import(${addressOf('./child/main.ts')})
  console.log(process.moduleLoadList.some((name) => name.includes('amaro')))
  process.exit(0)`
const asService = `
  const { subscribe } = await import('node:diagnostics_channel')
  let isBegun = false
  subscribe('child_process', () => (isBegun = true))
  const { keepChildrenCompiled } = await import(${addressOf('./keep-children-compiled.ts')})
  keepChildrenCompiled({ NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE })
  console.log(isBegun)`

async function run(program: string, keptIn = folder): Promise<string> {
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program]
  const environment = { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: keptIn }
  return (await promisify(execFile)(process.execPath, args, { env: environment })).stdout.trim()
}

after(() => [folder, elsewhere].forEach((one) => rmSync(one, { recursive: true })))

test('children begin with programs that the service had compiled for them, once', async () => {
  // It is not confined, and keeps what it compiles when it ends.
  equal(await run(asChild, elsewhere), 'true', 'A child finds everything compiled before anything was.')
  equal(await run(asService), 'true')
  await until(() => globSync('*/children-*', { cwd: folder }).length > 0, 'Nothing was compiled.', 120_000)
  equal(await run(asService), 'false', 'They are compiled once more.')
  equal(await run(asChild), 'false')
})
