// Loads what an engine's children consist of, so that Node keeps it compiled, marks that by an empty file, and ends. It
// reads no weights and nobody asks it anything; keep-children-compiled.ts says what it is for.

import 'node-llama-cpp'
import { writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { keepCompiled } from '../../../lib/keep-compiled.ts'

setPriority(constants.priority.PRIORITY_LOW)
await import('./main.ts')
await import('./text-main.ts')
keepCompiled()
writeFileSync(process.argv[2] ?? '', '')
process.exit(0)
