// Loaded before a test: one file of the program reads otherwise than it stands on the disk.

import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { applyMutant, type Mutant } from './find-mutants.ts'

const { ODYSSEY_MUTANT: given = '' } = process.env
const mutant = JSON.parse(given) as Mutant
const url = pathToFileURL(mutant.file).href

registerHooks({
  load(asked, context, nextLoad) {
    const loaded = nextLoad(asked, context)
    if (asked !== url || loaded.source === undefined || loaded.source === null) return loaded
    return { ...loaded, source: applyMutant(Buffer.from(loaded.source as Uint8Array).toString(), mutant) }
  },
})
