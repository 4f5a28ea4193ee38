import type { Random } from '../random.ts'
import { deeds, details, gifts, irregular, targets } from '../words/tools-invented.ts'
import { nouns } from '../words/nouns.ts'
import { drawFor } from '../phrase.ts'
import { inventWord } from './extract-invented.ts'
import { type ToolPlan, tool } from './tool-plan.ts'

/** A tool that stands in no list: a deed on any thing, with any parameters. It is for practice alone. */
export function inventTool(random: Random): ToolPlan {
  return random.chance(0.12) ? inventGift(random) : inventDeed(random)
}

/**
 * Another name for a tool, in which not all words are known: it cannot be made of the words of a request,
 * as so many names can, but has to be read where it is declared.
 */
export function inventToolName(random: Random, key: string): string {
  const [verb = '', ...object] = key.split('_')
  const word = () => inventWord(random)
  return drawFor(
    'train',
    () =>
      random.weighted([
        [`${word()}_${key}`, 4],
        [[word(), ...object].join('_'), 2],
        [`${verb}_${word()}`, 2],
        [`${word()}_${word()}`, 2],
      ]),
    (name) => name,
  )
}

/** What somebody is given so much of: the receiver and the number stand side by side. */
function inventGift(random: Random): ToolPlan {
  const [verb, object] = [random.pick(['give', 'send', 'pay', 'lend', 'award', 'grant', 'owe']), random.pick(gifts)]
  const [to, amount] = [random.pick(['to', 'person', 'receiver', 'member']), random.pick(['amount', 'number', 'value'])]
  const thing = object.replaceAll('_', ' ')
  return tool(
    `${verb}_${object}`,
    `${verb.slice(0, 1).toUpperCase()}${verb.slice(1)} ${thing} to somebody.`,
    `${to}: person; ${amount}: ${random.pick(['number 1 900', 'integer 1 900'])}; unit?|currency: currency`,
    [
      `${verb} {${to}} {${amount}}[| ${thing}| {unit}]`,
      `${verb} {${amount}}[| ${thing}| {unit}] to {${to}}`,
      `?can {${to}} get {${amount}}[| ${thing}| {unit}]`,
      `[transfer|hand|pass] {${amount}}[| ${thing}| {unit}] [to|over to|on to] {${to}}`,
    ],
    'give',
  )
}

function inventDeed(random: Random): ToolPlan {
  const [verb, ways] = random.pick(deeds)
  const object = random.weighted([
    [random.pick(targets), 5],
    [random.pick(nouns), 3],
    [inventWord(random), 2],
  ])
  const suffix = random.chance(0.1) ? `_${random.pick(['now', 'item', 'entry', 'by_id', 'v2', 'task', 'record'])}` : ''
  const thing = object.replaceAll('_', ' ')
  const subject = drawSubject(random, object)
  const extras = random.sample(details, random.integer(0, 3)).filter(([slot]) => slot !== subject.slot)
  const isRequired = random.chance(0.4)
  const parameters = [
    subject.parameter,
    ...extras.map(([slot, names, kind]) => `${[slot, ...names].join('|')}${isRequired ? '' : '?'}: ${kind}`),
  ]
  const tails = extras.map(([, , , endings]) => (isRequired ? `[${endings}]` : `[||${endings}]`)).join('')
  const quote = subject.quoted ? '"' : ''
  const value = `${quote}{${subject.slot}}${quote}`
  // Where a request does not name the thing, no other tool of that verb may stand in the prompt.
  const isBare = random.chance(0.4)
  const full = [`[the |my |our |]${thing} [|called |named |number ]${value}`, `${value}, the ${thing}`]
  return tool(
    `${verb}_${object}${suffix}`,
    random.pick([
      `${verb.slice(0, 1).toUpperCase()}${verb.slice(1)} ${/^[aeiou]/.test(thing) ? 'an' : 'a'} ${thing}.`,
      `${ways[0].replace('#', `the ${thing}`).replace(/^./, (letter) => letter.toUpperCase())}.`,
    ]),
    parameters.join('; '),
    [...ways, ...passives(verb)].flatMap((way) =>
      (isBare ? [value] : full).map((name) => way.replace('#', name) + tails),
    ),
    isBare ? verb : `${verb} ${object}`,
  )
}

/** The same request with the thing in front: `could the robot be moved`. */
function passives(verb: string): string[] {
  const done = irregular[verb] ?? verb.replace(/([^aeiou])y$/, '$1i').replace(/e?$/, 'ed')
  return [`?[could|can] # be ${done}`, `I [want|need] # ${done}`]
}

function drawSubject(random: Random, object: string) {
  const kind = random.pick([
    'id',
    'id',
    'service',
    'service',
    'slug',
    'word',
    'path',
    'person',
    'email',
    'name',
    'text',
  ])
  const quoted = ['name', 'text'].includes(kind) || random.chance(0.15)
  const slot = random.pick([
    'id',
    'name',
    'target',
    'key',
    'item',
    'value',
    'ref',
    object,
    `${object}_id`,
    random.pick(nouns),
  ])
  return { slot, quoted, parameter: `${slot}: ${kind}` }
}
