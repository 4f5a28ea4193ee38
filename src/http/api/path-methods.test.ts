import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { PathMethods } from './path-methods.ts'

const paths = new PathMethods(
  new Map([
    ['/keys', ['GET', 'POST']],
    ['/keys/export', ['GET']],
    ['/keys/{keyId}', ['GET', 'DELETE']],
    ['/keys/{keyId}/rotate', ['POST']],
    ['/log/tile/{level}/{tile}', ['GET']],
  ] as const),
)

test('a path has the methods of what it spells out, else those of what has a name in its place', () => {
  deepEqual(paths.find('/keys'), ['GET', 'POST'])
  deepEqual(paths.find('/keys/export'), ['GET'])
  deepEqual(paths.find('/keys/exports'), ['GET', 'DELETE'])
  deepEqual(paths.find('/keys/key_1/rotate'), ['POST'])
  deepEqual(paths.find('/log/tile/0/x001/067.p/5'), ['GET'])
})

test('an address that is no path has no methods', () => {
  for (const address of ['/', '/keys/', '/keyss', '/keys/key_1/rotate/now', '/keys//rotate', '/log/tile/0', '/KEYS']) {
    equal(paths.find(address), null, address)
  }
})

test('a path is shadowed by another that has a name where it has a word', () => {
  equal(paths.isShadowed('/keys/export'), true)
  for (const path of ['/keys', '/keys/{keyId}', '/keys/{keyId}/rotate']) equal(paths.isShadowed(path), false, path)
})
