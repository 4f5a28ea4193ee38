import type { Random } from '../random.ts'

export type Kind = 'words' | 'numbers' | 'names'

export type ListTask = {
  readonly weight: number
  /** How much more often it is practised than asked, where it takes long to learn. */
  readonly practice?: number
  readonly kinds: readonly Kind[]
  /** Where the list follows, or went before; begins with a small letter. */
  readonly asks: readonly string[]
  /** With the list in the middle. */
  readonly inline: readonly string[]
  /** The answer's items, joined the way the question joins them; or the whole answer. */
  readonly solve: (items: readonly string[], random: Random) => readonly string[] | string
  readonly thinking: (items: readonly string[]) => string
}

const can = '[||please |can you |could you |I want you to |would you |now ]'
const these = '[these|the following|the] [{kind}|items|entries]'
const list = '[this list|the list|the following list|my list|this list of {kind}]'
const all: readonly Kind[] = ['words', 'numbers', 'names']
const numeric = (items: readonly string[]) =>
  items
    .map(Number)
    .toSorted((one, other) => one - other)
    .map(String)
/** Each item behind its first two letters: sorting is then about the letters, and the items come along. */
const lettered = (items: readonly string[]) =>
  items.map((item) => `${item.slice(0, 2).toLowerCase()} ${item}`).join(', ')
/** Which numbers there are of each ten: the numbers in order, found by looking for one digit after the other. */
const tens = (ordered: readonly string[], from: readonly number[]) =>
  from.map((ten) => {
    const found = ordered.filter((item) => Math.floor(Number(item) / 10) === ten)
    return `${ten}: ${found.length === 0 ? '-' : found.join(' ')}`
  })
const upwards = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]

export const listTasks: readonly ListTask[] = [
  {
    weight: 16,
    kinds: all,
    asks: [
      'how many [{kind}|items|entries|elements|things] [are there|are in this list|does this list have|are listed here|do you see|can you count|are here|did I write|have I listed]',
      `${can}count [${these}|the {kind}|the items in ${list}]`,
      `[what is|what's|tell me|give me|I need|find] the [number of {kind}|number of items|item count|length of ${list}|count of {kind}|size of ${list}]`,
      `how long is ${list}`,
      '[count|how many]',
    ],
    inline: [
      'how many [{kind}|items|things|elements] are [there |]in {list}?',
      'if I have {list}, how many [{kind}|items|things] [is that|do I have|are there]?',
      'I [have|wrote|see|picked] {list}. How many [{kind}|items|things] [is that|are there|do I have]?',
    ],
    solve: (items) => String(items.length),
    thinking: (items) => `${items.map((item, index) => `${index + 1} ${item}`).join(', ')}: ${items.length}.`,
  },
  {
    weight: 13,
    practice: 1.5,
    kinds: ['numbers'],
    asks: [
      `${can}[sort|order|arrange|rank|put in order] ${these} [|in ascending order|ascending|from smallest to largest|from low to high|from smallest to biggest|in increasing order|numerically|upwards|starting with the smallest]`,
      `${can}sort ${list} [ascending|in ascending order|from low to high|smallest first|by size]`,
      '[ascending order|sort ascending|sort|lowest to highest|sorted from low to high, please]',
    ],
    inline: [
      `${can}[sort|order|arrange|put] {list} [in ascending order|from smallest to largest|from low to high|in increasing order|smallest first].`,
      'what is {list} [in ascending order|sorted|sorted ascending|from smallest to largest]?',
    ],
    solve: (items) => numeric(items),
    thinking: (items) => `By tens: ${tens(numeric(items), upwards).join(', ')}.`,
  },
  {
    weight: 11,
    practice: 1.5,
    kinds: ['numbers'],
    asks: [
      `${can}[sort|order|arrange|rank] ${these} [in descending order|descending|from largest to smallest|from high to low|from biggest to smallest|in decreasing order|downwards|starting with the largest]`,
      `${can}sort ${list} [descending|in descending order|from high to low|largest first|biggest first]`,
      '[descending order|sort descending|highest to lowest|largest to smallest|sorted from high to low, please]',
    ],
    inline: [
      `${can}[sort|order|arrange|put] {list} [in descending order|from largest to smallest|from high to low|in decreasing order|largest first].`,
      'what is {list} [in descending order|sorted descending|from largest to smallest]?',
    ],
    solve: (items) => numeric(items).toReversed(),
    thinking: (items) => `By tens: ${tens(numeric(items).toReversed(), upwards.toReversed()).join(', ')}.`,
  },
  {
    weight: 14,
    practice: 3,
    kinds: ['words', 'words', 'names'],
    asks: [
      `${can}[sort|order|arrange|put|list] ${these} [alphabetically|in alphabetical order|by alphabet|from a to z|a to z]`,
      `${can}[alphabetize|alphabetise] [${these}|${list}]`,
      `${can}sort ${list} [alphabetically|in alphabetical order|from a to z|by letter]`,
      '[alphabetical order|sort alphabetically|a to z|sorted by alphabet, please|ABC order]',
    ],
    inline: [
      `${can}[sort|order|arrange|put] {list} [alphabetically|in alphabetical order|from a to z].`,
      'what is {list} [in alphabetical order|sorted alphabetically|from a to z]?',
    ],
    solve: (items) => items.toSorted(),
    thinking: (items) => `${lettered(items)}; in order ${lettered(items.toSorted())}.`,
  },
  {
    weight: 16,
    kinds: ['words'],
    asks: [
      `${can}[write|put|convert|turn|change|print|give me] ${these} [in upper case|in uppercase|in capital letters|in capitals|into upper case|to uppercase|in all caps]`,
      `${can}[uppercase|upper-case|capitalize all letters of|capitalize every letter of] [${these}|${list}]`,
      `${can}make [${these}|${list}] [uppercase|upper case|all caps]`,
      '[in capitals|all caps|uppercase|to upper case|in capital letters, please|upper case version]',
    ],
    inline: [
      `${can}[write|put|convert|turn|print] {list} [in upper case|in uppercase|in capital letters|in capitals|to uppercase|in all caps].`,
      'what is {list} in [upper case|uppercase|capital letters|capitals|all caps]?',
      `${can}[uppercase|upper-case] {list}.`,
    ],
    solve: (items) => items.map((item) => item.toUpperCase()),
    thinking: (items) => `${items.map((item) => `${item} ${item.toUpperCase()}`).join(', ')}.`,
  },
  {
    weight: 10,
    kinds: all,
    asks: [
      `${can}[reverse|invert|flip] [${these}|${list}|the order of ${these}|the order of ${list}]`,
      `${can}[give me|write|list|say|repeat|show me] ${these} [in reverse|in reverse order|backwards|from last to first|the other way round]`,
      '[reverse order|reversed, please|backwards|reverse|last to first]',
    ],
    inline: [
      `${can}[reverse|flip|invert] {list}.`,
      `${can}[write|say|list|put] {list} [in reverse order|backwards|from last to first|in reverse].`,
    ],
    solve: (items) => items.toReversed(),
    thinking: (items) =>
      `From the end: ${items
        .map((item, index) => `${index + 1} ${item}`)
        .toReversed()
        .join(', ')}.`,
  },
  {
    weight: 6,
    kinds: all,
    asks: [
      `[what is|what's|which is|tell me|give me|name|say|show me] the first [one|item|entry|element|of these] [|in ${list}|here]`,
      `which [item|one|entry] [comes|stands|is] [first|at the beginning|at the start]`,
      '[first item|only the first one|just the first|first one, please]',
    ],
    inline: [`[what is|what's|which is|tell me|give me] the first [item|one|entry|element] [of|in] {list}?`],
    solve: (items) => items[0] ?? '',
    thinking: () => 'The first item is wanted.',
  },
  {
    weight: 6,
    kinds: all,
    asks: [
      `[what is|what's|which is|tell me|give me|name|say|show me] the last [one|item|entry|element|of these] [|in ${list}|here]`,
      `which [item|one|entry] [comes|stands|is] [last|at the end|at the very end]`,
      '[last item|only the last one|just the last|last one, please]',
    ],
    inline: [`[what is|what's|which is|tell me|give me] the last [item|one|entry|element] [of|in] {list}?`],
    solve: (items) => items.at(-1) ?? '',
    thinking: () => 'The last item is wanted.',
  },
  {
    weight: 8,
    kinds: all,
    asks: [
      `${can}[list|write|show|put|give me|format|print] ${these} as [bullets|bullet points|a bullet list|a bulleted list|a list with bullets]`,
      `${can}[make|turn ${these} into|write me] [bullets|bullet points|a bullet list|a bulleted list]`,
      '[as bullets|bullet points|bullet list|bulleted, please]',
    ],
    inline: [
      `${can}[make a bullet list of|make bullet points of|list as bullets|bullet] {list}.`,
      `${can}[write|list|show|put|format] {list} as [bullets|bullet points|a bullet list|a bulleted list].`,
    ],
    solve: (items) => items.map((item) => `- ${item}`).join('\n'),
    thinking: () => 'One bullet per item.',
  },
  {
    weight: 8,
    kinds: ['words', 'names'],
    asks: [
      `${can}[list|write|show|put|give me|format|print] ${these} as [a numbered list|a numbered list, please|numbered points|an ordered list|an enumerated list]`,
      `${can}[number|enumerate] [${these}|${list}]`,
      '[numbered list|as a numbered list|numbered, please|with numbers in front]',
    ],
    inline: [
      `${can}[make a numbered list of|number|enumerate] {list}.`,
      `${can}[write|list|show|put|format] {list} as [a numbered list|an ordered list|an enumerated list].`,
    ],
    solve: (items) => items.map((item, index) => `${index + 1}. ${item}`).join('\n'),
    thinking: () => 'Number the items from 1.',
  },
  {
    weight: 5,
    kinds: all,
    asks: [
      `${can}[list|write|join|put|give me|format|print] ${these} [separated by commas|with commas|with commas between them|as a comma separated list|comma separated|in one line with commas]`,
      `${can}[turn ${these} into|make|convert ${these} to] a comma[ |-]separated list`,
      '[comma separated|comma separated, please|with commas|joined by commas]',
    ],
    inline: [`${can}[write|list|put|format] {list} [separated by commas|as a comma separated list|with commas].`],
    solve: (items) => items.join(', '),
    thinking: () => 'The items with commas between.',
  },
]
