import type { Random } from '../random.ts'

/** Most people begin with a capital; what stands in a slot at the beginning must not be a word that would change. */
export function capitalized(random: Random, text: string): string {
  return random.chance(0.8) ? text.replace(/^[a-z]/, (letter) => letter.toUpperCase()) : text
}
