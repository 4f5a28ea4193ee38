// Imported first by tests that run client libraries inside their own process: several of these read
// their settings from the environment, or report home. With this they have the service's address
// and key and nothing else, and the first connection to any other machine fails the run.

import { subscribe } from 'node:diagnostics_channel'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What Node itself and the system need. */
const kept = /^(NODE_.*|PATH|TMPDIR|TEMP|TMP|SystemRoot|COMSPEC|PATHEXT)$/i
for (const name of Object.keys(process.env)) if (!kept.test(name)) delete process.env[name]

const home = mkdtempSync(join(tmpdir(), 'odyssey-home-'))
process.once('exit', () => rmSync(home, { recursive: true, force: true }))
process.env['HOME'] = home
process.env['USERPROFILE'] = home

subscribe('undici:client:beforeConnect', (message) => {
  const { hostname } = (message as { connectParams: { hostname: string } }).connectParams
  // What a subscriber throws becomes an uncaught exception.
  if (hostname !== '127.0.0.1') throw new Error(`A client connects to ${hostname}.`)
})
