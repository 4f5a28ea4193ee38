import { type Example, inSeries, type Skill, type Split } from '../example.ts'
import { drawFor, phrase } from '../phrase.ts'
import type { Random } from '../random.ts'
import { nouns } from '../words/nouns.ts'
import { firstNames } from '../words/people.ts'
import { rarely } from './extract-invented.ts'
import { capitalized } from './list-phrase.ts'
import { type Kind, type ListTask, listTasks } from './list-tasks.ts'

/** Lists that a small model can hold in mind. */
const longest = 5

type Form = 'commas' | 'and' | 'semicolons' | 'lines' | 'bullets'

/** Counting, sorting, reversing, upper-casing and re-formatting short lists. */
export const lists: Skill = {
  name: 'lists',
  weight: 12,
  goal: 0.9,
  make: (random, split) => asked(random, split),
  drill: (random) => inSeries(Array.from({ length: random.integer(2, 5) }, () => asked(random, 'train'))),
}

function asked(random: Random, split: Split): Example {
  const practised = split === 'train'
  const task = random.weighted(listTasks.map((one) => [one, one.weight * (practised ? (one.practice ?? 1) : 1)]))
  const kind = random.pick(task.kinds)
  const items = drawFor(split, () => draw(random, kind), String)
  // Words that nobody has seen can only be copied letter by letter: that is to be practised.
  const given = practised && kind !== 'numbers' && random.chance(0.3) ? rare(random, items) : items
  const form = formFor(random, task)
  const solved = task.solve(given, random)
  const content = typeof solved === 'string' ? solved : join(solved, form === 'and' ? 'commas' : form)
  return {
    turns: [
      { role: 'user', content: question(random, split, task, kind, given, form) },
      { role: 'assistant', thinking: task.thinking(given), content },
    ],
    judge: { kind: 'exact', text: content },
  }
}

function rare(random: Random, items: readonly string[]): string[] {
  const words = items.map((item) => (random.chance(0.5) ? rarely(random, item) : item))
  return new Set(words).size < words.length ? rare(random, items) : words
}

function draw(random: Random, kind: Kind): string[] {
  const count = random.integer(2, longest)
  if (kind === 'names') return random.sample(firstNames, count)
  if (kind === 'words') return random.sample(nouns, count)
  const most = random.chance(0.2) ? 9 : 99
  return random.sample(
    Array.from({ length: most + 1 }, (_, number) => String(number)),
    count,
  )
}

function formFor(random: Random, task: ListTask): Form {
  // A list that has bullets already, or commas, is not asked to be given them.
  const formats = task.thinking([]).includes('per item') || task.thinking([]).startsWith('Number the')
  return random.weighted<Form>([
    ['commas', 64],
    ['and', 10],
    ['semicolons', 6],
    ['lines', 12],
    ['bullets', formats ? 0 : 8],
  ])
}

function join(items: readonly string[], form: Form): string {
  if (form === 'lines') return items.join('\n')
  if (form === 'bullets') return items.map((item) => `- ${item}`).join('\n')
  if (form === 'semicolons') return items.join('; ')
  if (form === 'and') return `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
  return items.join(', ')
}

function question(random: Random, split: Split, task: ListTask, kind: Kind, items: readonly string[], form: Form) {
  const inOneLine = form === 'commas' || form === 'and'
  const around = random.chance(inOneLine ? 0.45 : 0.7)
    ? task.asks.map((ask) => `${ask}[:|?|:]${inOneLine ? '[ |\n]' : '\n'}{list}`)
    : task.asks.map((ask) => `{list}\n${ask}[?|.|]`)
  const templates = inOneLine && random.chance(0.35) ? task.inline : around
  const text = phrase(random, split, templates, { list: '\ue000', kind }).replace(/ +(?=[\n:?.]|$)/g, '')
  const [before = '', after = ''] = text.split('\ue000')
  const shown = before === '' ? random.pick(['', '', 'Here is a list: ', 'I have this: ', 'List: ']) : ''
  const opened = shown !== '' && !inOneLine ? `${shown.trim()}\n` : shown
  const behind = after.replace(/^\n(.+)/s, (_, rest: string) => `\n${capitalized(random, rest)}`)
  return opened + capitalized(random, before) + join(items, form) + behind
}
