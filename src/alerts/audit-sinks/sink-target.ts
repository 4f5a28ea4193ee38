import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isAbsolute } from 'node:path'
import type { SinkKind } from '../../core/alert-topic.ts'
import { invalidRequest } from '../../core/error.ts'
import type { AuditSinkTable } from '../../db/tables/alerts.ts'
import { seal, unseal } from '../../lib/seal.ts'

/** What is kept sealed of a sink. */
export type SinkTarget = {
  /** A URL, or the path of a file. */
  readonly address: string
  /** Signs what a webhook is sent; null does not sign. */
  readonly secret: string | null
  /** A header by which a receiver knows who sends, such as `authorization`. */
  readonly header: { readonly name: string; readonly value: string } | null
  /** In PEM: whom to trust in place of the usual authorities, and what to show of ourselves. */
  readonly ca: string | null
  readonly certificate: string | null
  readonly privateKey: string | null
}

export type WantedTarget = Partial<Omit<SinkTarget, 'address'>> & { readonly address: string }

const syslogPort = 6_514
/** What is set by the sender itself. */
const ownHeaders = /^(?:content-|webhook-|host$|connection$|transfer-encoding$|te$|upgrade$|expect$)/

/** Reads what somebody asks for. Throws with the field that is wrong. */
export function readTarget(
  kind: SinkKind,
  wanted: WantedTarget,
): { readonly target: SinkTarget; readonly shown: string } {
  const { ca = null, certificate = null, privateKey = null, header = null, secret = null } = wanted
  const { address, shown } = readAddress(kind, wanted.address)
  if (kind !== 'webhook' && header !== null) throw invalid('header', 'Only a webhook has headers.')
  if (header !== null) requireHeader(header)
  if (secret !== null && !/^whsec_[\d+/A-Za-z]{32,}={0,2}$/.test(secret)) {
    throw invalid('secret', 'A secret is whsec_ and at least 24 bytes in base64.')
  }
  requireCertificates({ ca, certificate, privateKey })
  return { target: { address, secret, header, ca, certificate, privateKey }, shown }
}

function readAddress(kind: SinkKind, given: string): { readonly address: string; readonly shown: string } {
  if (kind === 'file') {
    if (isAbsolute(given)) return { address: given, shown: given }
    throw invalid('address', 'A file needs its whole path.')
  }
  const url = URL.parse(given)
  const wantedProtocol = kind === 'webhook' ? 'https:' : 'tls:'
  if (url === null || url.protocol !== wantedProtocol || url.hostname === '' || url.username + url.password !== '') {
    const form =
      kind === 'webhook' ? 'A webhook needs an address with https' : 'Syslog needs an address as tls://host:6514'
    throw invalid('address', `${form}, and no password in it.`)
  }
  if (kind === 'webhook') return { address: url.href, shown: url.origin }
  if ((url.pathname !== '' && url.pathname !== '/') || url.search !== '' || url.hash !== '') {
    throw invalid('address', 'Syslog needs a host and a port alone, as tls://host:6514.')
  }
  const address = `tls://${url.hostname}:${url.port === '' ? syslogPort : url.port}`
  return { address, shown: address }
}

function requireHeader({ name, value }: { readonly name: string; readonly value: string }): void {
  if (!/^[!#$%&'*+.^`|~\w-]{1,100}$/.test(name)) throw invalid('header.name', 'This is no name of a header.')
  if (ownHeaders.test(name.toLowerCase())) throw invalid('header.name', 'This header is set by what is sent.')
  if (!/^[\t -~]{1,4000}$/.test(value)) throw invalid('header.value', 'A header takes visible ASCII and spaces.')
}

function requireCertificates({
  ca,
  certificate,
  privateKey,
}: Pick<SinkTarget, 'ca' | 'certificate' | 'privateKey'>): void {
  if (ca !== null) requireCertificate('ca', ca)
  if (certificate !== null) requireCertificate('certificate', certificate)
  if (certificate !== null && privateKey !== null) requirePair(certificate, privateKey)
  else if (certificate !== privateKey) throw invalid('privateKey', 'certificate and privateKey belong together.')
}

function requireCertificate(field: string, text: string): void {
  try {
    new X509Certificate(text)
  } catch {
    throw invalid(field, 'This is no certificate in PEM.')
  }
}

function requirePair(certificate: string, privateKey: string): void {
  let isPair = false
  try {
    isPair = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey))
  } catch {
    throw invalid('privateKey', 'This is no private key in PEM without a password.')
  }
  if (!isPair) throw invalid('privateKey', 'This is not the key of the certificate.')
}

function invalid(field: string, message: string) {
  return invalidRequest(field.split('.'), 'value', message)
}

export function sealTarget(key: Uint8Array, id: string, target: SinkTarget): string {
  return seal(key, id, JSON.stringify(target))
}

export function openTarget(key: Uint8Array, { id, sealed }: Pick<AuditSinkTable, 'id' | 'sealed'>): SinkTarget {
  return JSON.parse(unseal(key, id, sealed)) as SinkTarget
}
