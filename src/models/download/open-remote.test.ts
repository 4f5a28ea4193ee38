import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { startUpgradingServer } from '../../../test/harness/http/upgrading-server.ts'
import { openRemote } from './open-remote.ts'

test('a server that changes to another protocol cuts the download, which does not wait for it for ever', async (t) => {
  const server = await startUpgradingServer()
  t.after(() => server.close())
  const remote = { url: new URL(server.address), credentials: null }
  const asking = openRemote(remote, { method: 'GET', signal: new AbortController().signal })
  equal(await server.endOf(asking), 'Interruption: The connection was cut.')
})
