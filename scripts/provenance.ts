// npm run provenance -- FILE … --key KEY.pem                     signs what the files were built from
// npm run provenance -- FILE --verify STATEMENT --public-key KEY.pem     checks it
//
// A key is made once, and its public half is published where users look for it:
//
//     openssl genpkey -algorithm ed25519 -out release.pem
//     openssl pkey -in release.pem -pubout -out release.pub
//
// The statement is in-toto's and SLSA's, in an envelope that other tools verify as well. It is written beside the first file.

import { execFileSync } from 'node:child_process'
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { Refused, runOrRefuse } from './release/refused.ts'
import { root } from './supply-chain/lockfile.ts'
import { faultOf, makeStatement, signStatement, type Envelope } from './supply-chain/provenance.ts'

const usage = `Usage: npm run provenance -- FILE … --key KEY.pem [--output FILE] [--command WORDS] [--builder URI]
       npm run provenance -- FILE --verify STATEMENT --public-key KEY.pem`

const { values, positionals: files } = parseArgs({
  options: {
    key: { type: 'string' },
    output: { type: 'string' },
    command: { type: 'string', default: 'npm run package' },
    builder: { type: 'string', default: 'urn:odyssey:builder:by-hand' },
    repository: { type: 'string' },
    verify: { type: 'string' },
    'public-key': { type: 'string' },
  },
  allowPositionals: true,
})

runOrRefuse(() => {
  if (values.verify === undefined) write()
  else check(values.verify)
})

function write(): void {
  const [first] = files
  const { key, command, builder } = values
  if (first === undefined || key === undefined) throw new Refused(usage)
  for (const file of files) if (!existsSync(file)) throw new Refused(`There is no file ${file}.`)
  if (git('status', '--porcelain') !== '')
    throw new Refused('There are changes that are not committed: no commit has what the files were built from.')
  const repository =
    values.repository ?? git('config', '--default', 'urn:odyssey:repository', '--get', 'remote.origin.url')
  const statement = makeStatement(files, {
    commit: git('rev-parse', 'HEAD'),
    // An address may hold a password for who fetches.
    repository: repository.replace(/\/\/[^/@]*@/, '//'),
    command,
    builder,
    lockfile: readFileSync(join(root, 'package-lock.json')),
    finishedOn: new Date().toISOString(),
  })
  const output = values.output ?? `${first}.intoto.json`
  writeFileSync(output, `${JSON.stringify(signStatement(statement, readKey(key, createPrivateKey)))}\n`)
  console.log(`${output} says what ${files.map((file) => basename(file)).join(', ')} was built from.`)
}

function check(statement: string): void {
  const [file, ...more] = files
  const key = values['public-key']
  if (file === undefined || more.length > 0 || key === undefined) throw new Refused(usage)
  const fault = faultOf(JSON.parse(readFileSync(statement, 'utf8')) as Envelope, file, readKey(key, createPublicKey))
  if (fault !== null) throw new Refused(fault)
  console.log(`${basename(file)} is what ${statement} says.`)
}

function readKey(path: string, create: (pem: string) => KeyObject): KeyObject {
  const key = create(readFileSync(path, 'utf8'))
  if (key.asymmetricKeyType !== 'ed25519') throw new Refused(`${path} holds no Ed25519 key.`)
  return key
}

function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim()
}
