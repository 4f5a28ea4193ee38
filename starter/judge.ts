import { isDeepStrictEqual } from 'node:util'
import type { Judge } from './example.ts'

export type Answer = {
  readonly text: string
  readonly thinking: string
  readonly calls: readonly { readonly name: string; readonly arguments: string }[]
}

/** What is wrong with an answer; null when nothing is. */
export function judge(wanted: Judge, answer: Answer, thinks: boolean): string | null {
  const text = answer.text.trim()
  switch (wanted.kind) {
    case 'facts':
      return judgeFacts(wanted, text)
    case 'exact':
      return plain(text) === plain(wanted.text) ? null : `not: ${wanted.text}`
    case 'json':
      return isDeepStrictEqual(parse(text), wanted.value) ? null : `not: ${JSON.stringify(wanted.value)}`
    case 'calls': {
      const calls = answer.calls.map((call) => ({ name: call.name, arguments: parse(call.arguments) }))
      return isDeepStrictEqual(calls, wanted.calls) ? null : `not: ${JSON.stringify(wanted.calls)}`
    }
    case 'number': {
      const last = text.match(/-?\d+(?!.*\d)/s)?.[0]
      if (Number(last) !== wanted.value) return `not: ${wanted.value}`
      return thinks && !/\d/.test(answer.thinking) ? 'no working' : null
    }
  }
}

function judgeFacts({ required, forbidden = [] }: Extract<Judge, { kind: 'facts' }>, text: string): string | null {
  const said = text.toLowerCase()
  const holds = (fact: string) => fact.split('|').some((wording) => said.includes(wording.toLowerCase()))
  const missing = required.find((fact) => !holds(fact))
  if (missing !== undefined) return `missing: ${missing}`
  const wrong = forbidden.find(holds)
  return wrong === undefined ? null : `says: ${wrong}`
}

function plain(text: string): string {
  return text.toLowerCase().replace(/\.$/, '').trim()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
