import type { modelIds } from './models.ts'

export type Tier = (typeof modelIds)[number]

/** Parts of model names as vendors use them, the one that decides first. What has none of them is a general model. */
const families: readonly { readonly tier: Tier; readonly parts: readonly string[]; readonly said: string }[] = [
  {
    tier: 'tycho-1.0',
    parts: ['haiku', 'mini', 'nano', 'flash', 'lite', 'small', 'instant', 'turbo', '8b', '7b', '4b', '3b', '1b'],
    said: 'a small, fast model',
  },
  {
    tier: 'hal-1.0',
    parts: [
      'opus',
      'fable',
      'o1',
      'o3',
      'o4',
      'thinking',
      'reason',
      'r1',
      'pro',
      'max',
      'deep',
      'large',
      'ultra',
      'qwq',
    ],
    said: 'a model that thinks before it answers',
  },
]

/** Finds which of the three models stands in for one of another vendor, by its name. */
export function tierFor(name: string): { readonly tier: Tier; readonly said: string } {
  const words = name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  const found = families.find(({ parts }) =>
    words.some((word) => parts.some((part) => word === part || (part.length > 3 && word.startsWith(part)))),
  )
  return found ?? { tier: 'clarke-1.0', said: 'a general model' }
}

export const tierFamilies: readonly (readonly [string, Tier])[] = [
  ['Names with haiku, mini, nano, flash, lite or small', 'tycho-1.0'],
  ['Names with opus, pro, max, large, o1 to o4, reason or thinking', 'hal-1.0'],
  ['All others, as sonnet or the plain number of a version', 'clarke-1.0'],
]
