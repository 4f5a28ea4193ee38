import { deepEqual, equal, ok } from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, it } from 'node:test'
import {
  findSigners,
  formatVerifier,
  localKey,
  parseNote,
  parseVerifier,
  publicKeyOf,
  signNote,
} from './signed-note.ts'

const { privateKey } = generateKeyPairSync('ed25519')
const other = generateKeyPairSync('ed25519').privateKey
const signer = { name: 'odyssey.example/audit/org_1', key: localKey(privateKey) }
const verifier = { name: signer.name, publicKey: publicKeyOf(privateKey) }
const text = 'a line\nanother\n'

describe('a signed note', () => {
  it('is the one that the documentation of Go’s package shows, with its key', () => {
    const shown = parseVerifier('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW')
    ok(shown)
    const note = parseNote(
      'If you think cryptography is the answer to your problem,\n' +
        'then you don’t know what your problem is.\n'.replace('’', "'") +
        '\n' +
        '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
    )
    ok(note)
    deepEqual(findSigners(note, [shown]), [shown])
  })

  it('is read with the verifiers of those who signed it, and with no others', async () => {
    const note = parseNote(await signNote(text, [signer, { name: 'witness', key: localKey(other) }]))
    ok(note)
    equal(note.text, text)
    const witness = { name: 'witness', publicKey: publicKeyOf(other) }
    deepEqual(findSigners(note, [verifier, witness]), [verifier, witness])
    deepEqual(findSigners(note, [{ ...verifier, name: 'another' }]), [])
    deepEqual(findSigners(note, [{ ...verifier, publicKey: publicKeyOf(other) }]), [])
  })

  it('counts for nothing once a byte of its text or its signature is another', async () => {
    const signed = await signNote(text, [signer])
    for (let at = 0; at < signed.length; at += 1) {
      const changed = `${signed.slice(0, at)}${signed[at] === 'x' ? 'y' : 'x'}${signed.slice(at + 1)}`
      const note = parseNote(changed)
      // The last character before the padding has bits that stand for nothing.
      if (at === signed.length - 3 || at === signed.length - 4) continue
      deepEqual(note === null ? [] : findSigners(note, [verifier]), [], `character ${at}`)
    }
  })

  it('is none without the empty line, the newline at its end or a proper signature line', () => {
    for (const broken of [
      '',
      'text',
      'text\n',
      'text\n\n',
      'text\n\n— name\n',
      'text\n\n— na+me AAAAAAAA\n',
      'text\n\n- name AAAAAAAA\n',
    ]) {
      equal(parseNote(broken), null, JSON.stringify(broken))
    }
  })
})

describe('a verifier', () => {
  it('is read as it was written', () => deepEqual(parseVerifier(formatVerifier(verifier)), verifier))

  it('is none with another name, number, kind of key or length', () => {
    const written = formatVerifier(verifier)
    const [name = '', number, key = ''] = written.split('+', 3)
    for (const broken of [
      '',
      name,
      `x${written}`,
      `${name}+00000000+${key}`,
      `${name}+${number}+AA==`,
      `${name}+${number}+`,
    ]) {
      equal(parseVerifier(broken), null, broken)
    }
  })
})
