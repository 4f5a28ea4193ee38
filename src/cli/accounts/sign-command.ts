// What signs the audit of an installation from another machine: `audit.signer` of its config file runs this there.

import { buffer } from 'node:stream/consumers'
import { makeKeyFile, readKeyFile } from '../../accounts/transparency/signing-keys.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'

/** `odyssey audit sign`: makes a key in a file, or signs what it reads with it. Needs nothing but that file. */
export async function signCommand(args: string[]): Promise<void> {
  const options = { 'key-file': { type: 'string' } } as const
  const { values, positionals } = parseArguments({ args, options, words: { create: 0 } })
  const path = values['key-file']
  const [action] = positionals
  if (path === undefined || !(action === undefined || action === 'create'))
    throw new UsageError('audit sign takes --key-file FILE, and create to make one.')
  if (action === 'create') {
    console.log(makeKeyFile(path).toString('base64'))
    return
  }
  const text = await buffer(process.stdin)
  console.log(Buffer.from(await readKeyFile(path).sign(text.toString('utf8'))).toString('base64'))
}
