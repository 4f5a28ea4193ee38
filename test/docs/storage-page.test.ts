import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { compileCache, productProgram } from '../harness/as-launched.ts'
import { createPostgresDatabase } from '../harness/databases/shared-postgres.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/operations/storage.md'), 'utf8')
const commands = [...page.matchAll(/^npx odyssey (?:backup|restore|import) .*$/gm)].map(([command]) => command)

const install = page.match(/^install .*$/m)?.[0] ?? ''

describe('the page on storage', () => {
  let folder: string
  let postgres: Awaited<ReturnType<typeof createPostgresDatabase>>
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'odyssey-storage-page-'))
    postgres = await createPostgresDatabase('nothing')
    await odyssey('npx odyssey migrate', 'first')
    await odyssey('npx odyssey keys create --name mine', 'first')
  })
  after(async () => {
    rmSync(folder, { recursive: true })
    await postgres.drop()
  })

  async function odyssey(command: string, home: string, databaseUrl = ''): Promise<string> {
    const words = command
      .replace('/backups', folder)
      .replace('data/odyssey.db', join(folder, 'first', 'odyssey.db'))
      .split(' ')
      .slice(2)
    const { stdout } = await run(process.execPath, [productProgram, ...words], {
      env: {
        PATH: process.env['PATH'] ?? '',
        ...compileCache,
        ODYSSEY_HOME: join(folder, home),
        DATABASE_URL: databaseUrl,
      },
    })
    return stdout
  }
  const keys = async (home: string, databaseUrl?: string) =>
    JSON.parse(await odyssey('npx odyssey keys list --json', home, databaseUrl)) as unknown

  test('its commands bring everything from one place to another', async () => {
    assert.deepEqual(
      commands.map((command) => command.split(' ')[2]),
      ['backup', 'restore', 'restore', 'import'],
    )
    const [backup = '', restore = '', replace = '', bring = ''] = commands
    assert.ok((await odyssey(backup, 'first')).length > 0)
    const expected = await keys('first')
    assert.match(await odyssey(restore, 'second'), /secret\.key is missing/)
    await assert.rejects(keys('second'), /secret\.key is missing/)
    copyFileSync(join(folder, 'first', 'secret.key'), join(folder, 'secret.key'))
    await run('sh', ['-c', install.replace('/backups', folder).replace('data/', `${join(folder, 'second')}/`)])
    assert.deepEqual(await keys('second'), expected)
    await assert.rejects(odyssey(restore, 'second'))
    assert.doesNotMatch(await odyssey(replace, 'second'), /secret/)
    assert.deepEqual(await keys('second'), expected)
    await odyssey(bring, 'third', postgres.url)
    copyFileSync(join(folder, 'first', 'secret.key'), join(folder, 'third', 'secret.key'))
    assert.deepEqual(await keys('third', postgres.url), expected)
  })
})
