import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'

suite('check-boundaries', () => {
  test('passes imports of lower floors, and tests that look anywhere', (t) => {
    const { status, output } = check(t, {
      'src/core/a.ts': 'export type A = string',
      'src/lib/b.ts': "import { readFileSync } from 'node:fs'\nexport const b = readFileSync",
      'src/db/c.ts': "import type { A } from '../core/a.ts'\nexport const c: A = ''",
      'src/cli/d.ts': "import { c } from '../db/c.ts'\nimport { b } from '../lib/b.ts'\nexport const d = [b, c]",
      'src/core/a.test.ts': "import { test } from 'node:test'\nimport { d } from '../cli/d.ts'\ntest(String(d))",
    })
    assert.equal(output, '5 files, 75.0 % with a single importer, 0 faults.\n')
    assert.equal(status, 0)
  })

  refuses('an upward import', 'core-imports-only-down: src/core/a.ts → src/cli/b.ts', {
    'src/core/a.ts': "import { b } from '../cli/b.ts'\nexport const a = b",
    'src/cli/b.ts': 'export const b = 1',
  })
  refuses('an upward import of a type', 'db-imports-only-down: src/db/a.ts → src/http/b.ts', {
    'src/db/a.ts': "import type { B } from '../http/b.ts'\nexport const a: B = 1",
    'src/http/b.ts': 'export type B = number',
  })
  refuses('a sideways import', 'billing-imports-only-down: src/billing/a.ts → src/limits/b.ts', {
    'src/billing/a.ts': "import { b } from '../limits/b.ts'\nexport const a = b",
    'src/limits/b.ts': 'export const b = 1',
  })
  refuses('a package in core', 'core-is-pure: src/core/a.ts → ', {
    'src/core/a.ts': "import { z } from 'zod'\nexport const a = z",
  })
  refuses("one of Node's modules in core", 'core-is-pure: src/core/a.ts → ', {
    'src/core/a.ts': "import { join } from 'node:path'\nexport const a = join",
  })
  refuses('a circle', 'no-cycles: src/lib/', {
    'src/lib/a.ts': "import { b } from './b.ts'\nexport const a = (): number => b()",
    'src/lib/b.ts': "import { a } from './a.ts'\nexport const b = (): number => a()",
  })
  refuses('node-llama-cpp outside its child', 'llama-only-in-its-child: src/engines/llama/a.ts → ', {
    'src/engines/llama/a.ts': "import { getLlama } from 'node-llama-cpp'\nexport const a = getLlama",
  })
  refuses('a child process that no supervisor started', 'child-processes-only-under-supervision: src/cli/a.ts → ', {
    'src/cli/a.ts': "import { spawn } from 'node:child_process'\nexport const a = spawn",
  })
  refuses('a way around the rules on the process', 'process-is-not-imported: src/lib/a.ts → ', {
    'src/lib/a.ts': "import { env } from 'node:process'\nexport const a = env",
  })
  refuses('a folder without a floor', 'src/extra/a.ts: its folder has no floor', {
    'src/extra/a.ts': 'export const a = 1',
  })
  refuses('a folder with too many files', 'src/lib: 21 files; beyond 20 a folder is divided', {
    ...Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`src/lib/a${index}.ts`, 'export {}'])),
    'src/lib/a.test.ts': 'export {}',
  })
  refuses(
    'ideas that are spread over files of one importer each',
    'src/lib/b0/a.ts: imported by src/lib/b0/b.ts alone',
    Object.fromEntries(
      Array.from({ length: 120 }, (_, index) => {
        const folder = `src/lib/b${index >> 1}`
        return index % 2 === 0
          ? [`${folder}/a.ts`, 'export const a = 1']
          : [`${folder}/b.ts`, "import { a } from './a.ts'\nexport const b = a"]
      }),
    ),
  )
  refuses('a file that it cannot parse', 'in src/lib/a.ts', {
    'src/lib/a.ts': 'export const = = 1',
  })
})

type Sources = Readonly<Record<string, string>>

function refuses(what: string, expected: string, sources: Sources): void {
  test(`refuses ${what}`, (t) => {
    const { status, output } = check(t, sources)
    assert.ok(output.includes(expected), output)
    assert.equal(status, 1)
  })
}

function check(t: TestContext, sources: Sources) {
  const root = mkdtempSync(join(tmpdir(), 'boundaries-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const [path, text] of Object.entries(sources)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const script = join(import.meta.dirname, 'check-boundaries.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { cwd: root, encoding: 'utf8' })
  return { status, output: stdout + stderr }
}
