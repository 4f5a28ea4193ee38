import { equal, ok, throws } from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createMessagesProtocol } from '../messages-format.ts'

// What real clients sent, recorded outside the repository.
const folder = join(import.meta.dirname, '../../../../../shared/clients')
const protocol = createMessagesProtocol({ signatureKey: new Uint8Array(32) })

type Body = {
  readonly messages: unknown
  readonly thread?: unknown
  readonly tools?: readonly { readonly type?: string }[]
}
type Recording = { readonly method: string; readonly url: string; readonly body: Body }

test(
  'every recorded body decodes',
  { skip: existsSync(folder) ? false : 'The recorded requests are not here.' },
  () => {
    const files = globSync('*/*messages*.json', { cwd: folder })
    ok(files.length > 0)
    for (const file of files) {
      const { method, url, body } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Recording
      if (method !== 'POST' || !url.includes('/messages')) continue
      const decode = url.includes('count_tokens') ? protocol.count.decodeShaped : protocol.decode
      const [tool] = body.tools ?? []
      if (body.thread !== undefined) throws(() => decode(body), { message: /^thread: / }, file)
      else if (tool?.type?.startsWith('web_search_'))
        throws(() => decode(body), { message: /^tools\.0: server tool/ }, file)
      else equal(decode(body).request.messages.length > 0, true, file)
    }
  },
)
