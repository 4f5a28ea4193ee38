import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SMTPServer } from 'smtp-server'
import { makeCertificate } from './make-certificate.ts'

export type Received = {
  readonly from: string
  readonly to: readonly string[]
  readonly raw: string
  readonly isSecure: boolean
}

type Options = {
  readonly tls?: 'starttls' | 'implicit' | 'none'
  readonly login?: { readonly user: string; readonly password: string }
  /** What it says to a recipient; undefined takes it. */
  readonly refuse?: (address: string) => Error | undefined
}

/** A mail server on the loopback address that keeps what it is given. */
export async function openMailServer({ tls = 'starttls', login, refuse }: Options = {}) {
  const { key, certificate } = makeCertificate('localhost', Date.now() + 30 * 86_400_000)
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-mail-'))
  const certificatePath = join(folder, 'certificate.pem')
  writeFileSync(certificatePath, certificate)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const received: Received[] = []
  const server = new SMTPServer({
    secure: tls === 'implicit',
    key,
    cert: certificate,
    allowInsecureAuth: tls === 'none',
    authOptional: login === undefined,
    logger: false,
    disabledCommands: [...(tls === 'none' ? ['STARTTLS'] : []), ...(login === undefined ? ['AUTH'] : [])],
    onAuth({ username, password }, _session, done) {
      const isRight = username === login?.user && password === login?.password
      done(isRight ? null : new Error('Wrong name or password'), isRight ? { user: username } : undefined)
    },
    onRcptTo({ address }, _session, done) {
      done(refuse?.(address))
    },
    onData(stream, session, done) {
      const pieces: Buffer[] = []
      stream.on('data', (piece: Buffer) => pieces.push(piece))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(pieces).toString(),
          isSecure: session.secure,
        })
        done()
      })
    },
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return {
    port: (server.server.address() as AddressInfo).port,
    certificate,
    certificatePath,
    received,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
