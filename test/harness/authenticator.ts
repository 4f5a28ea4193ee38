// An authenticator in software: makes passkeys and uses them, as rightly or as wrongly as a test wants.

import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

export type Asked = { readonly challenge: string; readonly rp?: { readonly id: string }; readonly rpId?: string }

/** What an answer says, where it differs from what is right. */
export type Deviation = {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly type?: string
  readonly flags?: number
  readonly counter?: number
  readonly crossOrigin?: boolean
  /** Another key than the passkey's own signs. */
  readonly key?: KeyObject
}

const presentAndVerified = 0x05
const hasCredential = 0x40

export class Authenticator {
  readonly id = randomBytes(32).toString('base64url')
  readonly origin: string
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  #counter = 0

  constructor(origin: string) {
    this.origin = origin
  }

  /** The answer to `navigator.credentials.create`, as JSON. */
  create(asked: Asked, deviation: Deviation = {}) {
    const id = Buffer.from(this.id, 'base64url')
    const length = Buffer.alloc(2)
    length.writeUInt16BE(id.length)
    const credential = Buffer.concat([Buffer.alloc(16), length, id])
    const head = this.#head(asked, { flags: presentAndVerified | hasCredential, counter: 0, ...deviation })
    return {
      id: this.id,
      rawId: this.id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: this.#clientData(asked, { type: 'webauthn.create', ...deviation }).toString('base64url'),
        authenticatorData: Buffer.concat([head, credential]).toString('base64url'),
        publicKey: this.#keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64url'),
        publicKeyAlgorithm: -7,
        attestationObject: 'o2M',
        transports: ['internal'],
      },
    }
  }

  /** The answer to `navigator.credentials.get`, as JSON. */
  get(asked: Asked, deviation: Deviation = {}) {
    this.#counter += 1
    const clientData = this.#clientData(asked, { type: 'webauthn.get', ...deviation })
    const head = this.#head(asked, { flags: presentAndVerified, counter: this.#counter, ...deviation })
    const hash = createHash('sha256').update(clientData).digest()
    const signature = sign('sha256', Buffer.concat([head, hash]), deviation.key ?? this.#keys.privateKey)
    return {
      id: this.id,
      rawId: this.id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: head.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: null,
      },
    }
  }

  #clientData(asked: Asked, { type, origin = this.origin, challenge, crossOrigin = false }: Deviation): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge: challenge ?? asked.challenge, origin, crossOrigin }))
  }

  #head(asked: Asked, { rpId = asked.rp?.id ?? asked.rpId ?? '', flags = 0, counter = 0 }: Deviation): Buffer {
    const head = Buffer.alloc(37)
    createHash('sha256').update(rpId).digest().copy(head)
    head[32] = flags
    head.writeUInt32BE(counter, 33)
    return head
  }
}
