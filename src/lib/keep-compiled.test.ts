import { equal, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const program = (keeps: boolean) =>
  `const { keepCompiled } = await import('${new URL('./keep-compiled.ts', import.meta.url).href}')
   ${keeps ? 'keepCompiled()' : ''}
   setInterval(() => {}, 1_000)
   process.send('ready')`

async function filesKept(keeps: boolean): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-compiled-'))
  try {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program(keeps)], {
      env: { ...process.env, NODE_COMPILE_CACHE: folder },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    await once(child, 'message')
    child.kill('SIGKILL')
    await once(child, 'exit')
    return globSync('*/*', { cwd: folder }).length
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('a program that is killed leaves what it has compiled to the next one', async () => {
  equal(await filesKept(false), 0, 'Node keeps it by itself by now.')
  ok((await filesKept(true)) > 0)
})
