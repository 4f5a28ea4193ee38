import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

export type MadeCertificate = { readonly key: string; readonly certificate: string }

/** A certificate that vouches for itself, for a name and the loopback address, as PEM. Nothing of the system is asked for it. */
export function makeCertificate(name: string, endsAtMs: number): MadeCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subject = sequence(setOf(sequence(oid('2.5.4.3'), tagged(0x0c, Buffer.from(name)))))
  const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'))
  const names = sequence(tagged(0x82, Buffer.from(name)), tagged(0x87, Buffer.from([127, 0, 0, 1])))
  const mayVouch = sequence(oid('2.5.29.19'), boolean(), octets(sequence(boolean())))
  const named = sequence(oid('2.5.29.17'), octets(names))
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    subject,
    sequence(time(endsAtMs - 400 * 86_400_000), time(endsAtMs)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(mayVouch, named)),
  )
  const signature = tagged(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]))
  const text = sequence(body, ecdsaWithSha256, signature).toString('base64').replaceAll(/.{64}/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: `-----BEGIN CERTIFICATE-----\n${text.trimEnd()}\n-----END CERTIFICATE-----\n`,
  }
}

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: readonly Buffer[]) => tagged(0x30, Buffer.concat(parts))
const setOf = (part: Buffer) => tagged(0x31, part)
const octets = (part: Buffer) => tagged(0x04, part)
const boolean = () => tagged(0x01, Buffer.from([0xff]))

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  const bytes = [first * 40 + second, ...rest].flatMap((value) => {
    const digits = [value & 127]
    for (let left = value >> 7; left > 0; left >>= 7) digits.unshift((left & 127) | 128)
    return digits
  })
  return tagged(0x06, Buffer.from(bytes))
}

function time(ms: number): Buffer {
  return tagged(0x18, Buffer.from(`${new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/g, '')}`))
}
