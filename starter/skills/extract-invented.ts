import type { Random } from '../random.ts'

const onsets =
  'b bl br c ch cl cr d dr f fl fr g gl gr h j k kl kr l m n p pl pr qu r s sh sk sl sn st str t th tr v w y z zh'.split(
    ' ',
  )
const vowels = 'a e i o u ai au ea ee ia ie io oa oo ou y'.split(' ')
const codas = 'b ck d f g k l ld ll lm m n nd ng nk nt p r rd rk rn s sk ss st t th v x z'.split(' ')
const letters = 'abcdefghijklmnopqrstuvwxyz'

/** A word nobody has seen: what makes a model copy letters and not recall words. */
export function inventWord(random: Random, syllables = random.pick([1, 2, 2, 2, 2, 3])): string {
  let word = ''
  for (let index = 0; index < syllables; index += 1) {
    if (index > 0 || random.chance(0.8)) word += random.pick(onsets)
    word += random.pick(vowels)
    if (index === syllables - 1 ? random.chance(0.7) : random.chance(0.2)) word += random.pick(codas)
  }
  return word.length < 3 ? word + random.pick(codas) + random.pick(vowels) : word
}

export function inventName(random: Random): string {
  return capitalize(inventWord(random))
}

/** Letters and digits without sense: `qx7tr`. */
export function inventCode(random: Random, length: number): string {
  let code = random.pick([...letters])
  while (code.length < length) code += random.chance(0.3) ? String(random.integer(0, 9)) : random.pick([...letters])
  return code
}

export function digits(random: Random, length: number): string {
  let text = String(random.integer(1, 9))
  while (text.length < length) text += String(random.integer(0, 9))
  return text
}

export function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** The same text with each of its words made into one that nobody has seen. */
export function rarely(random: Random, text: string): string {
  return text.replace(/[A-Za-z]{2,}/g, (word) => {
    const invented = inventWord(random)
    if (word === word.toUpperCase()) return invented.toUpperCase()
    return /^[A-Z]/.test(word) ? capitalize(invented) : invented
  })
}
