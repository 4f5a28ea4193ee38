// npm run notices -- THIRD-PARTY-NOTICES.txt
//
// Writes the licences of the installed packages that run the service into one file, for whoever passes Odyssey on in
// a form in which the packages' own folders are not there any more.

import { writeFileSync } from 'node:fs'
import { readLockfile, root } from './supply-chain/lockfile.ts'
import { makeNotices } from './supply-chain/make-notices.ts'

const [path] = process.argv.slice(2)
if (path === undefined) throw new Error('notices takes the FILE to write.')
writeFileSync(path, makeNotices(readLockfile(), root))
console.log(`${path} is written.`)
