import { createServer, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { createMailer } from '../../alerts/mail.ts'
import type { MailRelaySettings, MailSecrets } from '../../config/mail-schema.ts'
import type { Config } from '../../config/schema.ts'
import { readDescriptorsMax } from '../../http/connections/watch-descriptors.ts'
import { codeOf, messageOf } from '../../lib/message-of.ts'
import type { ServiceFile } from '../status/service-file.ts'
import { fault, fine, warning, type Finding } from './finding.ts'

const dayMs = 24 * 60 * 60 * 1_000
const waitMsMax = 5_000
/** Certificates that renew themselves are renewed a month before their end. */
const certificateDaysLeast = 14
/** A connection each for some hundreds of clients, and the files of the service. */
const descriptorsComfortable = 4_096

/** The service that runs on a data folder and answers; null where none runs. Rejects for one that runs and does not answer. */
export type FindService = (home: string) => Promise<Pick<ServiceFile, 'pid' | 'address'> | null>

/** Examines where the service listens, whom that lets in, and what it reaches by itself. */
export async function examineNetwork(config: Config, findService: FindService): Promise<readonly Finding[]> {
  const { host, server, traces, alerts, mailSecrets } = config
  const certificate =
    server.publicUrl?.startsWith('https:') === true ? [await examineCertificate(server.publicUrl)] : []
  const collector = traces.endpoint === null ? [] : [await examineCollector(traces.endpoint)]
  return [
    ...(await examinePorts(config, findService)),
    ...examineReach(host, server.publicUrl),
    ...certificate,
    ...collector,
    ...(alerts.mail === null || mailSecrets === null ? [] : [await examineRelay(alerts.mail, mailSecrets)]),
    examineDescriptors(),
  ]
}

/** A service that runs has its ports already; where none does they must be free. */
async function examinePorts({ home, host, port, metrics }: Config, findService: FindService): Promise<Finding[]> {
  try {
    const running = await findService(home)
    if (running !== null)
      return [fine('port', `The service runs (process ${running.pid}) and listens on ${running.address}.`)]
  } catch (error) {
    return [fault('port', messageOf(error), 'Wait where it has just been started; else end it and start it again.')]
  }
  const ofClients = { about: 'port', host, port, hostIn: 'HOST', portIn: 'PORT' }
  const ofMetrics = { about: 'metrics', host: metrics.host, hostIn: 'metrics.host', portIn: 'metrics.port' }
  return [
    await examinePort(ofClients),
    ...(metrics.port === null ? [] : [await examinePort({ ...ofMetrics, port: metrics.port })]),
  ]
}

type Port = {
  readonly about: string
  readonly host: string
  readonly port: number
  /** The settings that name it. */
  readonly hostIn: string
  readonly portIn: string
}

async function examinePort({ about, host, port, hostIn, portIn }: Port): Promise<Finding> {
  const code = await tryListening(host, port)
  if (code === null) return fine(about, `Port ${port} on ${host} is free.`)
  const says = code === 'EADDRINUSE' ? `Port ${port} on ${host} is taken.` : `Port ${port} on ${host}: ${code}.`
  const wrong = code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' ? hostIn : portIn
  return fault(about, says, `Set ${wrong} to another one.`)
}

/** The code of what went wrong, or null. */
function tryListening(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => resolve(codeOf(error) ?? messageOf(error)))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)))
  })
}

function examineReach(host: string, publicUrl: string | null): Finding[] {
  const isLocal = ['127.0.0.1', '::1', 'localhost'].includes(host)
  if (isLocal || publicUrl !== null) return []
  const says = `${host} lets other machines in, and server.publicUrl is not set: nobody can sign in from there.`
  return [warning('public address', says, 'Set server.publicUrl to the address that browsers use, with TLS before it.')]
}

async function examineCertificate(publicUrl: string): Promise<Finding> {
  const { hostname, port } = new URL(publicUrl)
  try {
    const validTo = await readCertificateEnd({ host: hostname, port: Number(port || 443), isTrusted: true })
    const days = Math.floor((validTo - Date.now()) / dayMs)
    const says = `The certificate of ${hostname} is valid for ${days} days more.`
    return days < certificateDaysLeast ? warning('certificate', says, 'Renew it.') : fine('certificate', says)
  } catch (error) {
    const says = `The certificate of ${publicUrl} could not be checked from here: ${messageOf(error)}.`
    return warning('certificate', says, 'Check that browsers reach this address and trust its certificate.')
  }
}

type Server = { readonly host: string; readonly port: number; readonly isTrusted: boolean }

/** The end of what a server shows of itself; rejects where it has to be trusted and is not. */
export function readCertificateEnd({ host, port, isTrusted }: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    const named = isIP(host) === 0 ? { servername: host } : {}
    const socket = connectTls({ host, port, timeout: waitMsMax, rejectUnauthorized: isTrusted, ...named }, () => {
      resolve(Date.parse(socket.getPeerCertificate().valid_to))
      socket.destroy()
    })
    socket.once('timeout', () => socket.destroy(new Error('nobody answered within five seconds')))
    socket.once('error', reject)
  })
}

async function examineCollector(endpoint: string): Promise<Finding> {
  try {
    await fetch(endpoint, { method: 'HEAD', signal: AbortSignal.timeout(waitMsMax) })
    return fine('traces', `${endpoint} answers.`)
  } catch (error) {
    const says = `The collector of traces ${endpoint} does not answer: ${messageOf(error)}.`
    return warning('traces', says, 'Start it, or take traces.endpoint out of the config file.')
  }
}

async function examineRelay(relay: MailRelaySettings, secrets: MailSecrets): Promise<Finding> {
  try {
    await createMailer(relay, secrets).check()
    return fine('mail', `The mail relay ${relay.host} answers and lets this service in.`)
  } catch (error) {
    const says = `The mail relay ${relay.host} would take no mail: ${messageOf(error)}.`
    return warning('mail', says, 'Start it, or change alerts.mail: channels by e-mail tell nobody anything until then.')
  }
}

function examineDescriptors(): Finding {
  const most = readDescriptorsMax()
  if (most === null || most >= descriptorsComfortable)
    return fine('descriptors', `${most ?? 'Any number of'} files and connections may be open at once.`)
  const says = `Only ${most} files and connections may be open at once.`
  return warning('descriptors', says, 'Raise the limit: "ulimit -n 65536", or LimitNOFILE in the unit.')
}
