// npm run programs           fetches or builds what tests run and this repository does not hold, where it is not there yet
// npm run programs -- helm   only those whose name contains one of the words
//
// npm test does it by itself where tests decide what is released (CI is set); elsewhere, tests that lack a program are
// left out, and say so.

import { fetchPrograms } from '../test/harness/programs/fetch-programs.ts'

process.exitCode = (await fetchPrograms(process.argv.slice(2), console.log)) ? 0 : 1
