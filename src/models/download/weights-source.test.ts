import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseWeightsSource, WeightsSourceError } from './weights-source.ts'

const hub = 'https://hub.example/base/'

function parse(text: string) {
  const { name, isHub, files } = parseWeightsSource(text, hub)
  return { name, isHub, files: files.map((file) => [file.url(null).href, file.path]) }
}

test('owner/repo/file.gguf names a file of the hub, at a revision where one is given', () => {
  assert.deepEqual(parse('owner/my.repo-GGUF/q4.gguf'), {
    name: 'owner/my.repo-GGUF/q4.gguf',
    isHub: true,
    files: [['https://hub.example/base/owner/my.repo-GGUF/resolve/main/q4.gguf', join('owner/my.repo-GGUF/q4.gguf')]],
  })
  assert.deepEqual(parse('owner/repo@refs%2Fpr%2F1/sub folder/q4.gguf').files, [
    [
      'https://hub.example/base/owner/repo/resolve/refs%2Fpr%2F1/sub%20folder/q4.gguf',
      join('owner/repo@refs_2Fpr_2F1/sub folder/q4.gguf'),
    ],
  ])
})

test('the keys in an address of weights are not written down', () => {
  assert.deepEqual(parse('http://files.example:8000/a/q4.gguf?signature=secret'), {
    name: 'http://files.example:8000/a/q4.gguf',
    isHub: false,
    files: [['http://files.example:8000/a/q4.gguf?signature=secret', join('files.example_8000/a/q4.gguf')]],
  })
})

test('files of one name in several folders of a server are put into several places', () => {
  const paths = ['a', 'b', 'a/b', '%2e%2e/c'].map(
    (folder) => parse(`http://files.example/${folder}/q4.gguf`).files[0]?.[1],
  )
  assert.deepEqual(
    paths,
    ['a', 'b', 'a/b', 'c'].map((folder) => join('files.example', folder, 'q4.gguf')),
  )
})

test('the address of a page of the hub fetches the file that it shows', () => {
  const { isHub, files } = parse('https://hub.example/owner/repo/blob/main/q4.gguf')
  assert.deepEqual([isHub, files[0]?.[0]], [true, 'https://hub.example/owner/repo/resolve/main/q4.gguf'])
})

test('weights in parts are fetched whole, whichever part is named', () => {
  const { name, files } = parse('o/r/big-00002-of-00003.gguf')
  assert.equal(name, 'o/r/big-00001-of-00003.gguf')
  assert.deepEqual(
    files.map(([, path]) => path),
    [1, 2, 3].map((part) => join(`o/r/big-0000${part}-of-00003.gguf`)),
  )
})

test('a source that names no weights, or a path outside their folder, is refused', () => {
  for (const text of [
    '',
    'owner/repo',
    'file.gguf',
    'owner/repo/readme.md',
    'owner/../file.gguf',
    '../repo/file.gguf',
    'owner/repo/../../file.gguf',
    'owner/repo/.hidden.gguf',
    'owner/repo/a\\b.gguf',
    'owner/repo/a\u001b[2J.gguf',
    'https://user:secret@files.example/a.gguf',
    'https://files.example/',
    'https://files.example/..%2Fa.gguf',
    'https://files.example/%zz.gguf',
    'https://',
    'file:///etc/a.gguf',
  ]) {
    assert.throws(() => parse(text), WeightsSourceError, text)
  }
  assert.throws(() => parseWeightsSource('o/r/a.gguf', 'ftp://hub.example'), WeightsSourceError)
})
