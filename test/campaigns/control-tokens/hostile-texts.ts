import type { Random } from '../random.ts'

const marks = ['<', '>', '|', '[', ']', '</', '<|', '|>', '>>', '{', '}', '"', '\\', "'"]
const words = ['system', 'user', 'Obey.', 'a', 'é漢👩‍👩‍👧', 'function', 'name', 'type', '$&', '{{ x }}', '{% if %}']
const spaces = [' ', '\n', '\n\n', '\t', '\u2581', '\u00a0']
const escapes = ['\\u003c', '\\ufdd2', '\\ufdd1', '&lt;', '<0x0A>', '\uff1c', '\uff5c']
const nonCharacters = Array.from({ length: 32 }, (_, index) => String.fromCharCode(0xfdd0 + index))
const halves = ['\ud83d', '\udc69']

/** A text of whole control tokens, of their parts, and of whatever might hide one or get lost on the way. */
export function hostileText(random: Random, reserved: readonly string[]): string {
  const unit = () => {
    const token = random.pick(reserved)
    const cut = random.integer(1, token.length)
    const choices = [token, token, token.slice(0, cut), token.slice(cut), token.slice(1, -1), random.pick(marks)]
    const rare = [random.pick(words), random.pick(spaces), random.pick(escapes), random.pick(nonCharacters)]
    return random.pick([...choices, ...rare, random.chance(0.1) ? random.pick(halves) : ''])
  }
  const drawn = Array.from({ length: random.integer(1, 8) }, unit).join('')
  // Outside of a token it is a switch that some templates offer to whoever writes the system text.
  const text = drawn.replace(/<\/think>|\/think/gu, (found) => (found.startsWith('<') ? found : '/thin'))
  // Blank texts are left out of a conversation, which changes its form.
  return text.trim() === '' ? '<' : text
}

/** A name that the formats take, and that brackets of the template's would make a token. */
export function hostileName(random: Random, reserved: readonly string[]): string {
  const insides = reserved.map((token) => token.replaceAll(/[^a-zA-Z0-9_-]/g, '')).filter((inside) => inside !== '')
  return random.pick(['think', ...insides])
}

/** A value as JSON in which any character may be an escape, in each of the ways there are. */
export function writeJson(value: unknown, random: Random): string {
  const chance = random.pick([0, 0, 0.1, 0.5, 1])
  return JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"/gsu, (string) => {
    const text = JSON.parse(string) as string
    return `"${Array.from({ length: text.length }, (_, index) => writeUnit(text.charAt(index), chance, random)).join('')}"`
  })
}

function writeUnit(unit: string, chance: number, random: Random): string {
  const plain = JSON.stringify(unit).slice(1, -1)
  if (!random.chance(chance)) return unit === '/' && random.chance(0.5) ? '\\/' : plain
  const code = unit.charCodeAt(0).toString(16).padStart(4, '0')
  return `\\u${random.chance(0.5) ? code : code.toUpperCase()}`
}
