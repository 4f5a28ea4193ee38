import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { suite, test } from 'node:test'
import { Authenticator } from '../../../test/harness/authenticator.ts'
import {
  authenticationResponse,
  challengeOf,
  readAuthentication,
  readRegistration,
  registrationResponse,
  type RegistrationResponse,
} from './webauthn.ts'

const party = { origin: 'https://ai.example.com', rpId: 'ai.example.com' }
const asked = { challenge: 'A'.repeat(43), rp: { id: party.rpId }, rpId: party.rpId }

type Response = RegistrationResponse['response']

function register(change: (response: Response) => Partial<Response> = () => ({})) {
  const made = registrationResponse.parse(new Authenticator(party.origin).create(asked))
  return readRegistration({ ...made, response: { ...made.response, ...change(made.response) } }, party)
}

const spkiOf = (key: KeyObject) => key.export({ format: 'der', type: 'spki' })
const rsaOf = (modulusLength: number) => spkiOf(generateKeyPairSync('rsa', { modulusLength }).publicKey)
const p384 = spkiOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey)
const ed25519 = generateKeyPairSync('ed25519')

/** Client data with other things in it. */
const saying = (fields: Readonly<Record<string, unknown>>) => (response: Response) => {
  const said = JSON.parse(response.clientDataJSON.toString()) as Readonly<Record<string, unknown>>
  return { clientDataJSON: Buffer.from(JSON.stringify({ ...said, ...fields })) }
}

suite('a new passkey', () => {
  test('is read with its id, its key and how it is reached', () => {
    const read = register()
    equal(read?.counter, 0)
    deepEqual([read?.isBackedUp, read?.transports], [false, ['internal']])
  })

  test('tells whether it is kept elsewhere too', () => {
    const read = register(({ authenticatorData }) => {
      const changed = Buffer.from(authenticatorData)
      changed[32] = (changed[32] ?? 0) | 0x10
      return { authenticatorData: changed }
    })
    equal(read?.isBackedUp, true)
  })

  test('may have a key of Ed25519 or RSA', () => {
    notEqual(
      register(() => ({ publicKey: spkiOf(ed25519.publicKey), publicKeyAlgorithm: -8 })),
      null,
    )
    notEqual(
      register(() => ({ publicKey: rsaOf(2_048), publicKeyAlgorithm: -257 })),
      null,
    )
  })

  const flagged = (change: (flags: number) => number) => (response: Response) => {
    const changed = Buffer.from(response.authenticatorData)
    changed[32] = change(changed[32] ?? 0)
    return { authenticatorData: changed }
  }
  const refused: Readonly<Record<string, (response: Response) => Partial<Response>>> = {
    'with a key of another algorithm than it says': () => ({ publicKeyAlgorithm: -8 }),
    'with a key of another curve': () => ({ publicKey: p384, publicKeyAlgorithm: -7 }),
    'with a weak key': () => ({ publicKey: rsaOf(1_024), publicKeyAlgorithm: -257 }),
    'with a key of an algorithm that nobody asks for': () => ({ publicKeyAlgorithm: -37 }),
    'with something that is no key': () => ({ publicKey: Buffer.from('key') }),
    'of another host': ({ authenticatorData }) => ({ authenticatorData: Buffer.alloc(authenticatorData.length, 5) }),
    'cut in its head': ({ authenticatorData }) => ({ authenticatorData: authenticatorData.subarray(0, 36) }),
    'cut before its id': ({ authenticatorData }) => ({ authenticatorData: authenticatorData.subarray(0, 50) }),
    'cut in its id': ({ authenticatorData }) => ({ authenticatorData: authenticatorData.subarray(0, 60) }),
    'that says it has no id': flagged((flags) => flags & ~0x40),
    'whose user was not there': flagged((flags) => flags & ~0x01),
    'whose user it has not checked': flagged((flags) => flags & ~0x04),
    'that was used, not made': saying({ type: 'webauthn.get' }),
    'made at another site': saying({ origin: 'https://evil.example' }),
    'made in a frame of another site': saying({ crossOrigin: true }),
    'made in a frame within another site': saying({ topOrigin: 'https://evil.example' }),
    'with data that is no JSON': () => ({ clientDataJSON: Buffer.from('{') }),
    'with a challenge that is too short': saying({ challenge: 'A' }),
  }
  for (const [what, change] of Object.entries(refused)) {
    test(`is not taken ${what}`, () => equal(register(change), null))
  }

  test('is not taken under another id than its own', () => {
    const made = registrationResponse.parse(new Authenticator(party.origin).create(asked))
    equal(readRegistration({ ...made, id: 'AAAA' }, party), null)
  })
})

suite('a passkey that is used', () => {
  const passkey = new Authenticator(party.origin)
  const made = registrationResponse.parse(passkey.create(asked))
  const known = { ...readRegistration(made, party)!, rpId: party.rpId }
  const use = (counter: number) => authenticationResponse.parse(passkey.get(asked, { counter }))

  test('counts on, or not at all', () => {
    equal(readAuthentication(use(0), known, party)?.counter, 0)
    equal(readAuthentication(use(1), known, party)?.counter, 1)
    equal(readAuthentication(use(9), { ...known, counter: 8 }, party)?.counter, 9)
    for (const counter of [0, 7, 8]) equal(readAuthentication(use(counter), { ...known, counter: 8 }, party), null)
  })

  test('is of the host that it was made for', () => {
    equal(readAuthentication(use(1), { ...known, rpId: 'example.com' }, party), null)
    equal(readAuthentication(use(1), known, { ...party, rpId: 'example.com' }), null)
    equal(readAuthentication(use(1), known, { ...party, origin: 'https://other.example' }), null)
  })

  test('is refused with what is no signature at all', () => {
    const used = use(1)
    const response = { ...used.response, signature: Buffer.from('signature') }
    equal(readAuthentication({ ...used, response }, known, party), null)
    const cut = { ...used.response, signature: Buffer.alloc(0) }
    equal(readAuthentication({ ...used, response: cut }, known, party), null)
  })

  test('may sign by Ed25519, which has a digest of its own', () => {
    const { response, ...rest } = use(1)
    const signed = Buffer.concat([
      response.authenticatorData,
      createHash('sha256').update(response.clientDataJSON).digest(),
    ])
    const publicKey = spkiOf(ed25519.publicKey).toString('base64url')
    const answer = { ...rest, response: { ...response, signature: sign(null, signed, ed25519.privateKey) } }
    equal(readAuthentication(answer, { ...known, publicKey }, party)?.counter, 1)
    equal(readAuthentication(answer, known, party), null)
  })
})

test('a challenge is read from what was signed, and from nothing else', () => {
  const said = { type: 'webauthn.get', challenge: asked.challenge, origin: party.origin }
  equal(challengeOf(Buffer.from(JSON.stringify(said))), asked.challenge)
  for (const text of ['', 'null', '{}', JSON.stringify({ ...said, challenge: 7 })]) {
    equal(challengeOf(Buffer.from(text)), null)
  }
})
