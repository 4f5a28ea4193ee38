// Names that a template reads and that nobody but its author gives, such as `functions` for the tools, or a date.

import { formatTime } from './jinja/interpreter.ts'

/** The text first, which a template that walks a list shows nothing of. */
export const toolForms = ['text', 'list'] as const

/** What is given for such names: all of them where the template fails without, or those of tools where there are some. */
export type Filling = { readonly toolsAs: (typeof toolForms)[number]; readonly fills: 'all' | 'tools' }

/** The values of a template's free names. One of which nothing can be told is an empty text, as Python prints it. */
export function fillNames(
  names: readonly string[],
  tools: readonly unknown[] | null,
  filling: Filling | null,
): Readonly<Record<string, unknown>> {
  if (filling === null) return {}
  const { toolsAs, fills } = filling
  const values = names.flatMap((name): (readonly [string, unknown])[] => {
    if (usual.has(name)) return []
    if (isOfTools(name)) return tools === null && fills === 'tools' ? [] : [[name, inForm(tools ?? [], toolsAs)]]
    return fills === 'tools' ? [] : [[name, isOfTime(name) ? formatTime(new Date(), '%Y-%m-%d') : '']]
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
