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

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(hex: string): number {
  const [red = Number.NaN, green = Number.NaN, blue = Number.NaN] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
