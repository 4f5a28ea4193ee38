// The generic format: calls as JSON between markers, for models whose template has no place for tools.
// The notation is the one that most open models have seen (Hermes), and a grammar holds it.

import type { KnownNotation } from '../known/known-notation.ts'
import { isKnown, knownNotations } from '../known/notations.ts'
import type { TemplateToolCall, ToolFormat } from './tool-format.ts'
import type { TurnCutter } from './turn-frame.ts'
import { spacedJson, writeSection } from './write-calls.ts'

const marks = { open: '<tool_call>\n', close: '\n</tool_call>' }

export function genericFormat(cutter: TurnCutter): ToolFormat {
  return {
    notation: {
      kind: 'envelope',
      ...marks,
      nameKey: 'name',
      argumentsKey: 'arguments',
      idKey: null,
      pieces: [
        { kind: 'literal', text: '{"name": "' },
        { kind: 'name' },
        { kind: 'literal', text: '", "arguments": ' },
        { kind: 'arguments' },
        { kind: 'literal', text: '}' },
      ],
    },
    section: { open: '', close: '' },
    separator: '\n',
    callsMax: null,
    history: {
      argumentsAs: 'content',
      takesTextArguments: false,
      ids: { kind: 'any' },
      textBesideCalls: 'before',
      toolMessages: 'none',
    },
    endsTurn: true,
    lead: '',
    textOpen: cutter.textOpenBehind(''),
    isGeneric: true,
    showsTools: false,
  }
}

/** What the model is told in the system text, where its template does not tell it: the tools, and how it calls one. */
export function describeTools(tools: readonly object[], format: ToolFormat): string {
  const { notation } = format
  const example = isKnown(notation)
    ? exampleIn(knownNotations[notation.kind], format)
    : writeSection({ ...format, notation }, [exampleCall]).trim()
  return [
    '# Tools',
    '',
    'You may call functions. These are there, each described as JSON:',
    '<tools>',
    ...tools.map((tool) => spacedJson(tool)),
    '</tools>',
    ...(example === null ? [] : ['', 'To call one, write it like this, and nothing behind it:', example]),
    ...(format.history.toolMessages === 'none'
      ? ['The result then stands between <tool_response> and </tool_response>.']
      : []),
    'Where no function helps, just answer.',
  ].join('\n')
}

/** Null where it is the template that writes such calls. */
function exampleIn({ writeTurn }: KnownNotation, format: ToolFormat): string | null {
  const { content, tool_calls: calls } = writeTurn(
    { role: 'assistant', content: '', tool_calls: [exampleCall] },
    format,
  )
  return calls === undefined ? content : null
}

const exampleCall: TemplateToolCall = {
  id: 'call-id',
  type: 'function',
  function: { name: 'function-name', arguments: { 'argument-name': 'value' } },
}
