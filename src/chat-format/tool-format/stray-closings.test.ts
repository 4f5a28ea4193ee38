import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tool } from '../../core/generation.ts'
import { createToolCallParser } from './parse-tool-calls.ts'
import { plainFrame, type ToolFormat } from './tool-format.ts'
import { startCpuBudget } from '../../../test/harness/cpu-budget.ts'

const frame = {
  section: { open: '', close: '' },
  separator: '\n',
  callsMax: null,
  history: {
    argumentsAs: 'object',
    takesTextArguments: false,
    ids: { kind: 'any' },
    textBesideCalls: 'before',
    toolMessages: 'several',
  },
  endsTurn: true,
  ...plainFrame,
} as const

const envelope: ToolFormat = {
  ...frame,
  notation: {
    kind: 'envelope',
    open: '<tool_call>\n',
    close: '\n</tool_call>',
    nameKey: 'name',
    argumentsKey: 'arguments',
    idKey: null,
    pieces: [],
  },
}
const tagged: ToolFormat = {
  ...frame,
  notation: {
    kind: 'tagged',
    open: '<tool_call>\n<function=',
    nameEnd: '>\n',
    parameter: {
      open: '<parameter=',
      middle: '>\n',
      close: '\n</parameter>',
      separator: '\n',
      typed: {},
      guard: null,
      itemName: null,
    },
    close: '\n</function>\n</tool_call>',
  },
}
const fenced: ToolFormat = {
  ...frame,
  notation: { ...envelope.notation, open: '```json\n', close: '\n```' } as ToolFormat['notation'],
}
const tools: readonly Tool[] = [
  { name: 'look', description: '', parameters: {}, isStrict: false, schemaPath: [], input: 'json' },
]
const call = '<tool_call>\n{"name": "look", "arguments": {"a": 1}}\n</tool_call>'

type Shown = { readonly text: string; readonly calls: number }

function read(format: ToolFormat, pieces: readonly string[]): Shown {
  const parser = createToolCallParser(format, tools)
  const parts = [...pieces.flatMap((piece) => parser.feed(piece)), ...parser.end()]
  // What stands behind a call is not shown.
  const first = parts.findIndex(({ kind }) => kind === 'call-start')
  const before = first === -1 ? parts : parts.slice(0, first)
  return {
    text: before.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join(''),
    calls: parts.filter(({ kind }) => kind === 'call-end').length,
  }
}

/** Whole, a character at a time, and in two pieces cut anywhere. */
function check(format: ToolFormat, output: string, expected: Shown): void {
  const cuts = Array.from(output, (_, at) => [output.slice(0, at), output.slice(at)])
  for (const pieces of [[output], output.split(''), ...cuts]) {
    assert.deepEqual(read(format, pieces), expected, JSON.stringify(pieces))
  }
}

const dropped: readonly [output: string, text: string, calls?: number][] = [
  ['</tool_call>', ''],
  ['Hello.\n</tool_call>', 'Hello.'],
  ['Hello.\n\n  </tool_call> \n', 'Hello.'],
  ['Hello.\n</tool_call>\n</tool_call>', 'Hello.'],
  ['</tool_call>\nHello.', 'Hello.'],
  ['\n</tool_call>\n\n</tool_call>\nHello,\nyou.', 'Hello,\nyou.'],
  ['</tool_call>\nHello.\n</tool_call>', 'Hello.'],
  [`Let me see.\n</tool_call>\n${call}`, 'Let me see.', 1],
  [`</tool_call>\n${call}\n</tool_call>`, '', 1],
]

test('a closing marker that stands alone before the text or behind it is dropped', () => {
  for (const [output, text, calls = 0] of dropped) check(envelope, output, { text, calls })
  check(tagged, 'Hello.\n</function>\n</tool_call>', { text: 'Hello.', calls: 0 })
  check(tagged, '</tool_call>\nHello.\n</function>', { text: 'Hello.', calls: 0 })
})

const kept = [
  'It ends with </tool_call>',
  'It ends with `</tool_call>`.',
  '</tool_call> is how it ends.',
  'First line:\n</tool_call>\nand a last one.',
  '```\n</tool_call>\n```',
  'A call is\n<tool_call>\nany text\n</tool_call>',
  'Hello.\n</tool_',
  'Hello.\n</other>',
  '1 < 2\n',
  ' \n',
  '',
]

test('a closing marker within the text is text', () => {
  for (const output of kept) check(envelope, output, { text: output, calls: 0 })
})

test('what closes many other things is text', () => {
  check(fenced, 'See:\n```\n1\n```', { text: 'See:\n```\n1\n```', calls: 0 })
})

test('a run without end is text, and soon shown', () => {
  const parser = createToolCallParser(envelope, tools)
  const checkBudget = startCpuBudget(5_000)
  let shown = 0
  for (let line = 0; line < 20_000; line++) {
    for (const part of parser.feed('\n</tool_call>')) if (part.kind === 'text') shown += part.text.length
  }
  assert.ok(shown > 200_000)
  checkBudget()
  const output = `Hello.${'\n</tool_call>'.repeat(60)}`
  check(envelope, output, read(envelope, [output]))
})
