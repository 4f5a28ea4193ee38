import { createPublicKey, generateKeyPair, randomBytes, sign, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'

/** A key with the certificate by which others know it. */
export type CertifiedKey = {
  /** PEM. */
  readonly privateKey: string
  /** DER, in base64. */
  readonly certificate: string
}

type Subject = { readonly name: string; readonly nowMs: number; readonly lastsMs: number }

const bits = 2_048

/** Makes an RSA key, and a certificate that it has signed itself, for where a bare key cannot be handed over. */
export async function createCertifiedKey(subject: Subject): Promise<CertifiedKey> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: bits })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' })
  return { privateKey: pem.toString(), certificate: certify(privateKey, subject).toString('base64') }
}

// What of DER (X.690) a certificate needs, with the tags in ASN.1's own order.
const [integerTag, bitsTag, nullTag, oidTag, textTag, timeTag, sequenceTag, setTag, versionTag] = [
  0x02, 0x03, 0x05, 0x06, 0x0c, 0x17, 0x30, 0x31, 0xa0,
]

function certify(privateKey: KeyObject, { name, nowMs, lastsMs }: Subject): Buffer {
  // sha256WithRSAEncryption, 1.2.840.113549.1.1.11, and its parameters, which are nothing.
  const algorithm = sequence(der(oidTag, Buffer.from('2a864886f70d01010b', 'hex')), der(nullTag, Buffer.alloc(0)))
  // commonName, 2.5.4.3.
  const commonName = sequence(der(oidTag, Buffer.from('550403', 'hex')), der(textTag, Buffer.from(name)))
  const named = sequence(der(setTag, commonName))
  const validity = sequence(time(nowMs - 3_600_000), time(nowMs + lastsMs))
  const key = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  const version = der(versionTag, der(integerTag, Buffer.from([2])))
  // Positive, and without a zero in front, as the shortest form has it.
  const serial = der(integerTag, Buffer.concat([Buffer.from([0x40]), randomBytes(15)]))
  const content = sequence(version, serial, algorithm, named, validity, named, key)
  const signature = sign('sha256', content, privateKey)
  return sequence(content, algorithm, der(bitsTag, Buffer.concat([Buffer.from([0]), signature])))
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(sequenceTag, Buffer.concat(parts))
}

/** UTCTime, which has two digits of the year and is for those before 2050. */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/g, '')
  return der(timeTag, Buffer.from(digits.slice(2)))
}

function der(tag: number, content: Uint8Array): Buffer {
  const { length } = content
  const long = Buffer.from(length.toString(16).padStart(length > 0xff ? 4 : 2, '0'), 'hex')
  const head = length < 0x80 ? [tag, length] : [tag, 0x80 | long.length, ...long]
  return Buffer.concat([Buffer.from(head), content])
}
