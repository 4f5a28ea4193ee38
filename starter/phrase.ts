import type { Split } from './example.ts'
import { hashText, type Random } from './random.ts'

/**
 * Says something in one of many ways.
 *
 * A template holds alternatives, `[Hi|Hello[| there]]`, which may nest, and slots, `{name}`.
 * A template with its alternatives chosen is a phrasing. One phrasing in eight is held out:
 * the training split never says it, the held-out split says nothing else, so that
 * the evaluation asks in words that no training example has.
 */
export function phrase(
  random: Random,
  split: Split,
  templates: readonly string[],
  slots: Readonly<Record<string, string>> = {},
): string {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    const phrasing = choose(random, random.pick(templates))
    if (isHeldOut(phrasing) === (split === 'held-out')) return fill(roughen(random, phrasing, split), slots)
  }
  throw new Error(`None of these has a ${split} phrasing: ${templates[0] ?? ''} …`)
}

/** Says something in one of many ways that need no holding out: the model's own answers, texts to work on. */
export function vary(random: Random, templates: readonly string[], slots: Readonly<Record<string, string>> = {}) {
  return fill(choose(random, random.pick(templates)), slots)
}

/** Whether a phrasing, or any other text that marks an example, belongs to the held-out split. Case and punctuation do not matter. */
export function isHeldOut(text: string): boolean {
  const words = text.toLowerCase().replace(/[^\p{L}\p{N}{}+*/-]+/gu, ' ')
  return hashText(words.trim()) % 8 === 0
}

/** Draws until the text that marks the drawn thing belongs to the split. */
export function drawFor<Drawn>(split: Split, draw: () => Drawn, mark: (drawn: Drawn) => string): Drawn {
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    const drawn = draw()
    if (isHeldOut(mark(drawn)) === (split === 'held-out')) return drawn
  }
  throw new Error(`Nothing drawn belongs to the ${split} split.`)
}

function choose(random: Random, template: string): string {
  let text = template
  for (;;) {
    const innermost = /\[([^[\]]*)\]/.exec(text)
    if (innermost === null) return text
    const alternatives = (innermost[1] ?? '').split('|')
    text =
      text.slice(0, innermost.index) + random.pick(alternatives) + text.slice(innermost.index + innermost[0].length)
  }
}

function fill(phrasing: string, slots: Readonly<Record<string, string>>): string {
  return phrasing.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = slots[name]
    if (value === undefined) throw new Error(`Nothing is given for ${whole} in: ${phrasing}`)
    return value
  })
}

/** People write without capitals, without a question mark, with a slip of the finger. Slots stay as they are. */
function roughen(random: Random, phrasing: string, split: Split): string {
  let text = phrasing
  if (random.chance(0.15))
    text = text.replace(/\{\w+\}|[^{]+/g, (part) => (part.startsWith('{') ? part : part.toLowerCase()))
  if (random.chance(0.15)) text = text.replace(/[?.!]$/, '')
  // What is practised is a little harder than what is asked.
  if (random.chance(split === 'train' ? 0.1 : 0.05)) text = slip(random, text)
  return text
}

function slip(random: Random, text: string): string {
  const words = [...text.matchAll(/(?<![\w{])[a-z]{5,}(?![\w}])/g)]
  if (words.length === 0) return text
  const word = random.pick(words)
  const at = word.index + random.integer(1, word[0].length - 3)
  const [first = '', second = ''] = [text[at], text[at + 1]]
  const slipped = random.chance(0.5) ? second + first : first
  return text.slice(0, at) + slipped + text.slice(at + 2)
}
