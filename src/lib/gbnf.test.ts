import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { characterClass, quote } from './gbnf.ts'

test('a text stands in quotes as it is, but for quotes, backslashes and control characters', () => {
  equal(quote('é😀\u2028 /#[]^-'), '"é😀\u2028 /#[]^-"')
  equal(quote(String.raw`a"b\n`), String.raw`"a\"b\\n"`)
  equal(quote('\n\t\rx'), String.raw`"\n\t\rx"`)
  equal(quote(''), '""')
})

test('a control character without a letter of its own is a class, since not every reader has a number for it in a text', () => {
  equal(quote('\x030\x7fz\x01'), String.raw`([\x03] "0" [\x7F] "z" [\x01])`)
  equal(quote('\n\u0085x'), String.raw`("\n" [\x85] "x")`)
  equal(quote('\0'), String.raw`[\x00]`)
})

test('no digit follows a number, since some would read it as a part of that', () => {
  equal(quote(String.raw`\x410`), String.raw`"\\x410"`)
  const ranges = [
    [0, 8],
    [0x0b, 0x1f],
    [0x30, 0x7f],
    [0x85, 0x85],
  ] as const
  equal(characterClass(ranges), String.raw`[0-\x7F\x00-\x08\x0B-\x1F\x85]`)
})

test('what means something else within a class is escaped, or stands where it does not', () => {
  const points = (text: string) =>
    Array.from(text, (character) => [character.charCodeAt(0), character.charCodeAt(0)] as const)
  deepEqual(
    [
      characterClass(points('+-[]^a')),
      characterClass(points('-^')),
      characterClass(points('^a')),
      characterClass(points('-')),
      characterClass(points('-'), true),
      characterClass(points('^'), true),
      characterClass([
        [0x2b, 0x2d],
        [0x5c, 0x5c],
        [0x5e, 0x7a],
      ]),
      characterClass([[0x2d, 0x2f]]),
      characterClass([[0xa0, 0x10ffff]]),
    ],
    [
      String.raw`[+\[\]a^-]`,
      '[-^]',
      '[a^]',
      '"-"',
      '[^-]',
      '[^^]',
      String.raw`[+-,\\_-z^-]`,
      '[.-/-]',
      '[\u00a0-\u{10ffff}]',
    ],
  )
})
