import { deepEqual, equal, ok } from 'node:assert/strict'
import { validate } from '../../grammar/validate.ts'
import type { FuzzedCall, StructuredAnswer } from './structured-answers.ts'
import type { Promised } from './structured-requests.ts'

/** How an answer of each format ends when nothing cut it. */
const endings: readonly string[] = ['stop', 'end_turn']
const callEndings: readonly string[] = ['tool_calls', 'tool_use']
const cuts: readonly string[] = ['length', 'max_tokens']

/** What each format lets a client see of a call that was cut. */
export type CheckOptions = {
  readonly showsPartialCall: boolean
  /**
   * The weights have no tokens for markers. That of calls is a word like others where none may be made, such as one of the
   * question's, and that of thoughts wherever it does not begin the answer.
   */
  readonly hasMarkerWords?: boolean
}

/** Throws at the first promise that an answer breaks. */
export function checkPromises(answer: StructuredAnswer, promised: Promised, options: CheckOptions): void {
  const { text, calls, reason, outputTokens, logprobBytes } = answer
  const { choice, allowed, isParallel, outputTokensMax, output } = promised
  const isCut = cuts.includes(reason)
  ok(isCut || endings.includes(reason) || callEndings.includes(reason), `the answer ended with ${reason}`)
  ok(outputTokens <= outputTokensMax, `${outputTokens} tokens of ${outputTokensMax}`)
  if (isCut) equal(outputTokens, outputTokensMax, 'an answer says that it was cut, and was not')
  else
    equal(callEndings.includes(reason), calls.length > 0, `an answer with ${calls.length} calls ended with ${reason}`)

  for (const { name } of calls) ok(allowed.includes(name), `${name} was called and only ${allowed.join()} may be`)
  if (!isParallel) ok(calls.length <= 1, `${calls.length} calls where one is the most`)
  const isForced = choice === 'required' || choice === 'named'
  if (isForced && !isCut) ok(calls.length > 0, 'a call was required')
  if (isForced || (calls.length > 0 && output !== null)) equal(text, '', 'there is text beside a call')
  const [markup] = (output === null && markupOf(promised, options).exec(text)) || []
  equal(markup, undefined, `there is markup in the text: ${text.slice(0, 300)}`)

  const whole = isCut ? calls.slice(0, -1) : calls
  for (const call of whole) checkCall(call, promised)
  const last = isCut ? calls.at(-1) : undefined
  if (last !== undefined && !options.showsPartialCall) JSON.parse(last.text)
  if (output !== null && !isCut && calls.length === 0) checkOutput(text, output)
  if (logprobBytes !== null) deepEqual(Buffer.from(logprobBytes).toString(), text, 'the bytes are those of the text')
}

/** What no text may hold. */
function markupOf({ choice }: Promised, { hasMarkerWords = false }: CheckOptions): RegExp {
  if (!hasMarkerWords) return /<(?:tool_call|think)>/
  return choice === 'none' ? /^\s*<think>/ : /<tool_call>|^\s*<think>/
}

function checkCall({ name, text }: FuzzedCall, { tools }: Promised): void {
  const tool = tools.find((one) => one.name === name)
  ok(tool !== undefined, `${name} is no tool`)
  if (tool.schema === null) return
  const value = parse(text, 'the arguments')
  const fault = validate(tool.schema, value)
  equal(fault, null, `${fault}: the arguments ${text.slice(0, 200)} of ${JSON.stringify(tool.schema).slice(0, 600)}`)
}

function checkOutput(text: string, output: NonNullable<Promised['output']>): void {
  const value = parse(text, 'the answer')
  if (output === true) {
    ok(typeof value === 'object' && value !== null && !Array.isArray(value), `no object: ${text.slice(0, 200)}`)
    return
  }
  const fault = validate(output, value)
  equal(fault, null, `${fault}: the answer ${text.slice(0, 200)} for ${JSON.stringify(output).slice(0, 600)}`)
}

function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${what} are no JSON: ${text.slice(0, 200)} … ${text.slice(-60)}`)
  }
}
