// Messages that stand in an address: packed, and signed together with what stands beside them.

import { createVerify, sign } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { decodeXml } from '../../../../lib/xml/scan-xml.ts'
import { SsoFault } from '../../fault.ts'
import { rsaSha256, rsaSha512 } from './names.ts'
import { isBase64, messageBounds, toPem } from './verify-signature.ts'

type Sent = {
  readonly location: string
  readonly field: 'SAMLRequest' | 'SAMLResponse'
  readonly message: string
  readonly relayState: string | null
  readonly privateKey: string
}

/** The address by which a browser brings a message to a provider. */
export function writeRedirect({ location, field, message, relayState, privateKey }: Sent): string {
  const packed = deflateRawSync(Buffer.from(message)).toString('base64')
  const fields = [[field, packed], ...(relayState === null ? [] : [['RelayState', relayState]]), ['SigAlg', rsaSha256]]
  const signed = fields.map(([name = '', value = '']) => `${name}=${encodeURIComponent(value)}`).join('&')
  const signature = sign('sha256', Buffer.from(signed), privateKey).toString('base64')
  const joint = location.includes('?') ? '&' : '?'
  return `${location}${joint}${signed}&Signature=${encodeURIComponent(signature)}`
}

export type ReadRedirect = { readonly message: string; readonly relayState: string | null }

const digests = new Map([
  [rsaSha256, 'sha256'],
  [rsaSha512, 'sha512'],
])
const others: readonly string[] = ['RelayState', 'SigAlg', 'Signature']

type Expected = { readonly field: Sent['field']; readonly certificates: readonly string[] }

/**
 * The message that stands in the query of an address, if it was signed with one of these certificates.
 *
 * What is signed is the text of the query itself, so it is taken apart as it is: a field that is there twice, or written
 * in another way, would be another field for another reader.
 */
export function readRedirect(query: string, { field, certificates }: Expected): ReadRedirect {
  const fields = new Map<string, string>()
  for (const part of query.split('&')) {
    const mark = part.indexOf('=')
    const name = part.slice(0, Math.max(0, mark))
    if (!(name === field || others.includes(name)) || fields.has(name)) throw new SsoFault('saml-shape')
    fields.set(name, part.slice(mark + 1))
  }
  const message = fields.get(field)
  const [algorithm, signature] = [fields.get('SigAlg'), fields.get('Signature')]
  if (message === undefined || algorithm === undefined || signature === undefined) throw new SsoFault('saml-unsigned')
  const digest = digests.get(decode(algorithm))
  if (digest === undefined) throw new SsoFault('saml-algorithm')
  const relay = fields.get('RelayState')
  const beside = relay === undefined ? '' : `&RelayState=${relay}`
  const signed = `${field}=${message}${beside}&SigAlg=${algorithm}`
  const value = decode(signature)
  const isSigned =
    isBase64(value) &&
    certificates.some((certificate) => {
      return createVerify(digest).update(signed).verify(toPem(certificate), value, 'base64')
    })
  if (!isSigned) throw new SsoFault('saml-signature')
  return { message: unpack(decode(message)), relayState: relay === undefined ? null : decode(relay) }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch (cause) {
    throw new SsoFault('saml-shape', { cause })
  }
}

function unpack(packed: string): string {
  if (!isBase64(packed)) throw new SsoFault('saml-xml')
  try {
    const bytes = inflateRawSync(Buffer.from(packed, 'base64'), { maxOutputLength: messageBounds.lengthMax })
    return decodeXml(bytes)
  } catch (cause) {
    throw new SsoFault('saml-xml', { cause })
  }
}
