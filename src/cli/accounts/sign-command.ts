// What signs the audit of an installation from another machine: `audit.signer` of its config file runs this there.

import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { localKey, publicKeyOf } from '../../lib/signed-note.ts'
import { writeAndSync } from '../../lib/write-file-durably.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'

/** `odyssey audit sign`: makes a key in a file, or signs what it reads with it. Needs nothing but that file. */
export async function signCommand(args: string[]): Promise<void> {
  const options = { 'key-file': { type: 'string' } } as const
  const { values, positionals } = parseArguments({ args, options, allowPositionals: true })
  const path = values['key-file']
  const [action, ...more] = positionals
  if (path === undefined || more.length > 0 || !(action === undefined || action === 'create'))
    throw new UsageError('audit sign takes --key-file FILE, and create to make one.')
  if (action === 'create') {
    const key = generateKeyPairSync('ed25519').privateKey
    // One that is there has signed, and is never written over.
    writeAndSync(path, key.export({ type: 'pkcs8', format: 'pem' }).toString(), 'wx')
    console.log(publicKeyOf(key).toString('base64'))
    return
  }
  const text = await buffer(process.stdin)
  console.log(Buffer.from(await localKey(readKey(path)).sign(text.toString('utf8'))).toString('base64'))
}

function readKey(path: string): KeyObject {
  const pem = readFileSync(path)
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch {
    // Which of its parts is wrong is nobody's business.
  }
  throw new Error(`${path} is no Ed25519 key.`)
}
