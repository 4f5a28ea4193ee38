// The colours in use together, by WCAG's formula, as the style sheet has them in either theme.

import { deepEqual, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const css = readFileSync(join(import.meta.dirname, '../../web/src/styles/tokens.css'), 'utf8')

function tokensIn(selector: string): Map<string, string> {
  const block = css.slice(css.indexOf(selector) + selector.length).split('}', 1)[0] ?? ''
  return new Map(
    [...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6});/g)].map(([, name = '', value = '']) => [name, value]),
  )
}

const themes = {
  light: tokensIn(':root {'),
  dark: tokensIn(":root[data-theme='dark'] {"),
  'dark by the system': tokensIn(":root:not([data-theme='light']) {"),
}

/** Grounds, the tokens that stand on them, and the contrast that they need. */
const pairs: readonly (readonly [readonly string[], readonly string[], number])[] = [
  [['page', 'surface', 'hover', 'selected', 'raised'], ['text'], 7],
  [['page', 'surface', 'hover', 'selected', 'subtle', 'raised'], ['text-2'], 4.5],
  [['page', 'surface', 'subtle', 'hover', 'raised'], ['text-3'], 4.5],
  [['surface', 'hover', 'accent-soft', 'selected', 'raised'], ['accent-text'], 4.5],
  [['accent', 'accent-hover'], ['on-accent'], 4.5],
  [['bad', 'bad-hover'], ['on-bad'], 4.5],
  [['good-soft', 'surface', 'hover'], ['good'], 4.5],
  [['warn-soft', 'surface', 'hover'], ['warn'], 4.5],
  [['bad-soft', 'surface', 'hover', 'raised'], ['bad'], 4.5],
  [['info-soft', 'surface', 'hover'], ['info'], 4.5],
  [['page', 'surface', 'subtle', 'raised'], ['line-strong', 'focus'], 3],
  [
    ['surface'],
    [
      'series-1',
      'series-2',
      'series-3',
      'series-4',
      'series-5',
      'series-6',
      'series-others',
      'tokens-uncached',
      'tokens-write',
      'tokens-read',
      'tokens-output',
    ],
    3,
  ],
]

for (const [theme, tokens] of Object.entries(themes)) {
  test(`every pair of colours in use has the contrast it needs, ${theme}`, () => {
    for (const [grounds, fronts, needed] of pairs) {
      for (const ground of grounds) {
        for (const front of fronts) {
          const found = contrast(tokens.get(ground) ?? '', tokens.get(front) ?? '')
          ok(found >= needed, `${front} on ${ground}: ${found.toFixed(2)} of ${needed}`)
        }
      }
    }
  })
}

test('the dark theme is the same by choice and by the system', () => {
  deepEqual(themes.dark, themes['dark by the system'])
})

/** How linear light reaches an eye without one kind of cones, by Machado, Oliveira and Fernandes (2009). */
const views: Readonly<Record<string, readonly number[]>> = {
  'all cones': [1, 0, 0, 0, 1, 0, 0, 0, 1],
  'no red cones': [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  'no green cones': [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  'no blue cones': [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
}
/**
 * What charts set side by side, and how far apart each two of them have to be; two is just to be noticed. The grey of all
 * others is told by its place, which is always the last.
 */
const apart = [
  [['series-1', 'series-2', 'series-3', 'series-4', 'series-5', 'series-6'], 9],
  [['series-1', 'series-2', 'series-3'], 12],
  [['tokens-uncached', 'tokens-write', 'tokens-read', 'tokens-output'], 9],
] as const

for (const [theme, tokens] of Object.entries(themes)) {
  for (const [view, matrix] of Object.entries(views)) {
    test(`colours of a chart are told apart by an eye with ${view}, ${theme}`, () => {
      for (const [names, needed] of apart) {
        for (const [index, one] of names.entries()) {
          for (const other of names.slice(index + 1)) {
            const found = distance(seen(tokens.get(one) ?? '', matrix), seen(tokens.get(other) ?? '', matrix))
            ok(found >= needed, `${one} and ${other}: ${found.toFixed(2)} of ${needed}`)
          }
        }
      }
    })
  }
}

/** The distance of two colours in OKLab, times a hundred. */
function distance(one: readonly number[], other: readonly number[]): number {
  const [from, to] = [toOklab(one), toOklab(other)]
  return 100 * Math.hypot(...from.map((part, index) => part - (to[index] ?? Number.NaN)))
}

function toOklab(rgb: readonly number[]): readonly number[] {
  const cones = multiply(
    [
      0.4122214708, 0.5363325363, 0.0514459929, 0.2119034982, 0.6806995451, 0.1073969566, 0.0883024619, 0.2817188376,
      0.6299787005,
    ],
    rgb,
  )
  return multiply(
    [
      0.2104542553, 0.793617785, -0.0040720468, 1.9779984951, -2.428592205, 0.4505937099, 0.0259040371, 0.7827717662,
      -0.808675766,
    ],
    cones.map(Math.cbrt),
  )
}

function seen(hex: string, matrix: readonly number[]): readonly number[] {
  return multiply(matrix, linear(hex)).map((part) => Math.min(1, Math.max(0, part)))
}

/** Three rows times three numbers. */
function multiply(matrix: readonly number[], vector: readonly number[]): readonly number[] {
  const sumOf = (row: number) =>
    vector.reduce((sum, value, index) => sum + value * (matrix[row * 3 + index] ?? Number.NaN), 0)
  return [sumOf(0), sumOf(1), sumOf(2)]
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(hex: string): number {
  const [red = Number.NaN, green = Number.NaN, blue = Number.NaN] = linear(hex)
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function linear(hex: string): readonly number[] {
  return [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
}
