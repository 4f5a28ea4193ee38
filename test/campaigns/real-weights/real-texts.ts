import type { Random } from '../random.ts'

const subjects = [
  'the sea',
  'a small town',
  'bread',
  'the moon',
  'trains',
  'old books',
  'rain',
  'a garden',
  'music',
  'gold',
]
const tasks = [
  'Tell me about',
  'Write a short story about',
  'Explain to a child',
  'List three facts about',
  'What is good about',
]

/** One of many plain questions; each number has its own. */
export function questionOf(number: number): string {
  const subject = subjects[number % subjects.length]
  const task = tasks[Math.floor(number / subjects.length) % tasks.length]
  return `${task} ${subject}, in number ${number + 1} of my notes.`
}

const pieces = [
  'word',
  'Word',
  ' two  spaces',
  '\n\n',
  '\t',
  '1234567',
  '3.14',
  "it's",
  'naïve',
  'größer',
  'señor',
  'слово',
  '漢字',

  'かな',
  '한국어',
  'العربية',
  '🙂',
  '👩‍👩‍👧',
  '`code()`',
  'https://example.org/?a=1',
  '---',
  '...',
  '{"a": [1, 2]}',
  'A',
  ' ',
]

/** A text that tokenizers cut in many ways, without anything that is written like a control token. */
export function randomText(random: Random): string {
  const length = 1 + Math.floor(random.next() * 40)
  // A template may trim white space at the ends, which is not what is compared here.
  return `x${Array.from({ length }, () => random.pick(pieces)).join(random.pick([' ', '', '\n']))}x`
}
