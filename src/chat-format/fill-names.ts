// What a template is given under the names that it reads: those of its author's own, such as `functions` for the tools, or a
// date, and those that families have for thinking.

import { formatTime } from './jinja/interpreter.ts'

/** The text first, which a template that walks a list shows nothing of. */
export const toolForms = ['text', 'list'] as const

/** What is given for such names: all of them where the template fails without, or those of tools where there are some. */
export type Filling = { readonly toolsAs: (typeof toolForms)[number]; readonly fills: 'all' | 'tools' }

/** The values of a template's free names. One of which nothing can be told is an empty text, as Python prints it. */
export function fillNames(
  names: readonly string[],
  { tools, now }: { readonly tools: readonly unknown[] | null; readonly now: Date },
  filling: Filling | null,
): Readonly<Record<string, unknown>> {
  if (filling === null) return {}
  const { toolsAs, fills } = filling
  const values = names.flatMap((name): (readonly [string, unknown])[] => {
    if (usual.has(name)) return []
    if (isOfTools(name)) return tools === null && fills === 'tools' ? [] : [[name, inForm(tools ?? [], toolsAs)]]
    return fills === 'tools' ? [] : [[name, isOfTime(name) ? formatTime(now, '%Y-%m-%d') : '']]
  })
  return Object.fromEntries(values)
}

/** Names that most templates know, and that are given or left out for reasons of their own. */
const conversation = ['messages', 'tools', 'add_generation_prompt', 'bos_token', 'eos_token', 'served_model_name']
const thinking = ['enable_thinking', 'thinking', 'reasoning', 'thinking_mode', 'thinking_budget', 'reasoning_effort']
const usual = new Set([...conversation, ...thinking])

/** Not those that choose among tools or describe what one is. */
function isOfTools(name: string): boolean {
  return /(?:^|_)(?:tool|function)s?(?:_(?:json|schemas?|list|definitions?|specs?|descriptions?))?$/iu.test(name)
}

/** A day and no time of the day, with which no two prompts would begin alike. */
function isOfTime(name: string): boolean {
  return /date|time|today|(?:^|_)now(?:_|$)/iu.test(name)
}

function inForm(tools: readonly unknown[], form: Filling['toolsAs']): unknown {
  return form === 'list' ? tools : JSON.stringify(tools, null, 4)
}

/** What a template is told about thinking, as far as it renders with it. */
export type ThinkingWords = {
  readonly on: object
  readonly off: object
  /** The words that it takes for efforts. */
  readonly efforts: Partial<Readonly<Record<Effort, string>>>
}

type Effort = keyof typeof effortWords

/** A template may know other efforts than the usual three, and refuse those that it does not know. */
const effortWords = {
  low: ['low', 'minimal', 'medium', 'high', 'max', 'xhigh'],
  medium: ['medium', 'high', 'low', 'max', 'xhigh'],
  high: ['high', 'max', 'xhigh', 'medium', 'low'],
} as const

/** Efforts that switch thinking off. Other templates would show them to the model as if it had learned of them. */
const noEffort = ['none', 'no_think', 'off', 'disabled']

/**
 * Finds the words in which a template is told of thinking. `render` gives what stands behind a question, or null
 * where the template fails.
 */
export function chooseThinkingWords(source: string, render: (variables: object) => string | null): ThinkingWords {
  // A template may refuse to be switched, and is then left to its own default.
  const [on = {}, off = {}] = [switches(true), { ...switches(false), thinking_budget: 0 }].map((words) =>
    render(words) === null ? {} : words,
  )
  if (!source.includes('reasoning_effort')) return { on, off, efforts: {} }
  const efforts = Object.fromEntries(
    Object.entries(effortWords).flatMap(([effort, words]) => {
      const known = words.find((word) => render({ ...on, reasoning_effort: word }) !== null)
      return known === undefined ? [] : [[effort, known]]
    }),
  )
  const none = noEffort.find((word) => {
    const isNamed = new RegExp(`reasoning_effort[^%}]*["']${word}["']`, 'u').test(source)
    return isNamed && render({ ...off, reasoning_effort: word }) !== null
  })
  const told = { on, off: none === undefined ? off : { ...off, reasoning_effort: none }, efforts }
  // Where the effort is the only switch, thinking stays off until one is named.
  const begun = { ...on, reasoning_effort: efforts['high'] }
  const isSwitch = render(on) === render(told.off) && efforts['high'] !== undefined && render(begun) !== render(on)
  return isSwitch ? { ...told, on: begun } : told
}

/** Families name the switch differently; a template ignores the names it does not know. */
function switches(isOn: boolean): object {
  return { enable_thinking: isOn, thinking: isOn, reasoning: isOn, thinking_mode: isOn ? 'enabled' : 'disabled' }
}

/** The extent of thinking in the words that templates have for it: a number of tokens, or an effort. */
export function sayThinkingExtent({ efforts }: ThinkingWords, tokensMax: number | null): object {
  const effort = tokensMax === null || tokensMax > mediumTokens ? 'high' : tokensMax > lowTokens ? 'medium' : 'low'
  return {
    ...(tokensMax !== null && { thinking_budget: tokensMax }),
    ...(efforts[effort] !== undefined && { reasoning_effort: efforts[effort] }),
  }
}

/** What the efforts of these names mean to most models that are served. */
const lowTokens = 1_024
const mediumTokens = 8_192
