import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createThinkingSplitter } from '../../src/chat-format/thinking-splitter.ts'
import { deriveThinking, type ThinkingFormat } from '../../src/chat-format/probe-template.ts'
import { deriveToolFormat } from '../../src/chat-format/tool-format/derive-tool-format.ts'
import { toTemplateCalls } from '../../src/chat-format/tool-format/to-template-calls.ts'
import type { RenderProbe, TemplateToolMessage, ToolFormat } from '../../src/chat-format/tool-format/tool-format.ts'
import { declarations, turns, writeTurn, type Turn } from './conversations.ts'
import { readPieces } from './read.ts'
import { instructionsIn, renderIn, renderWith } from './render.ts'
import { hasOtherTemplates, templateFiles } from './template-files.ts'

const user: TemplateToolMessage = { role: 'user', content: 'Please help.' }

type Derived = { readonly render: RenderProbe; readonly format: ToolFormat; readonly thinking: ThinkingFormat }

/** What a model would have written to get this turn: the rendered turn without its frame. */
function outputOf({ render, format, thinking }: Derived, turn: Turn, thought: string | null): string {
  const options = { tools: declarations, addGenerationPrompt: false, enableThinking: thought === null ? null : true }
  const own =
    turn.calls.length === 0
      ? [{ role: 'assistant' as const, content: turn.text }]
      : toTemplateCalls(format, [writeTurn(turn, thought)])
  const rendered = render([user, ...own], options)
  const text = 'Xqwzplain'
  const plain = render([user, { role: 'assistant', content: text }], options)
  const after = plain.slice(plain.lastIndexOf(text) + text.length)
  const prompts = [thought === null ? [false, null] : [true, null], [true, null, false]]
    .flat()
    .map((enableThinking) => render([user], { ...options, addGenerationPrompt: true, enableThinking }))
  // A template may open the thinking in each prompt and show none in a turn without it.
  const unopened = prompts.map((prompt) => prompt.slice(0, prompt.lastIndexOf(thinking.tags?.open ?? prompt)))
  const begun = [...prompts, ...unopened].filter((prompt) => prompt !== '' && rendered.startsWith(prompt))
  // A prompt may end in white space that is no part of a turn with calls, or hold what only a last question is told.
  const starts = [...begun, plain.slice(0, plain.lastIndexOf(text)), plain.slice(0, plain.lastIndexOf(text)).trimEnd()]
  const start =
    thought === null
      ? Math.max(...starts.map((begin) => (rendered.startsWith(begin) ? begin.length : 0)))
      : (starts[0]?.length ?? 0)
  assert.ok(start > 0, 'the prompt is the beginning of the turn')
  // An answer in words may have a space before its end that calls do not have.
  const ends = [after, after.trim(), instructionsIn([rendered, plain, render([user], options)])]
  const end = ends.find((one) => rendered.trimEnd().endsWith(one.trimEnd())) ?? ''
  const output = rendered.slice(start, end === '' ? undefined : rendered.lastIndexOf(end.trimEnd()))
  return thinking.tags === null || thought !== null ? output : withoutEmptyThinking(output, thinking.tags)
}

function withoutEmptyThinking(
  output: string,
  { open, close }: { readonly open: string; readonly close: string },
): string {
  const empty = new RegExp(`^\\s*${RegExp.escape(open)}\\s*${RegExp.escape(close)}\\s*`, 'u')
  return output.replace(empty, '')
}

function expected(format: ToolFormat, { text, calls }: Turn) {
  const shown = calls.length > 0 && format.history.textBesideCalls === 'lost' ? '' : text
  return { text: shown, calls }
}

/** A turn of its own ends before the call; the frame between the two is not the model's to write. */
function canCarry({ callsMax, history, notation }: ToolFormat, { text, calls }: Turn): boolean {
  if (callsMax === 1 && calls.length > 1) return false
  if (calls.length === 0 || text === '' || history.textBesideCalls === 'before') return true
  return history.textBesideCalls === 'own' && notation.kind === 'harmony'
}

for (const { name, source } of templateFiles) {
  describe(name, () => {
    const render = renderWith(source)
    const format = deriveToolFormat(render)
    it('has a format', () => assert.ok(format !== null))
    if (format === null) return
    const derived = { render: renderIn(format, render), format, thinking: deriveThinking(render) }
    const showsLastTurn = showsPlainTurn(derived.render)
    for (const turn of turns.filter((one) => showsLastTurn && canCarry(format, one))) {
      it(`keeps ${turn.title}, whole and in pieces`, () => {
        const output = outputOf(derived, turn, null)
        const wanted = expected(format, turn)
        const check = (pieces: readonly string[]) => {
          const read = readPieces(format, pieces)
          assert.deepEqual({ text: read.text.trim(), calls: read.calls }, wanted, JSON.stringify(pieces))
          assert.equal(read.openCalls, 0)
        }
        check([output])
        check(output.split(''))
        for (let cut = 1; cut < output.length; cut++) check([output.slice(0, cut), output.slice(cut)])
      })
    }
    it('leaves a call open that the output breaks off in, and shows no complete marker as text', (t) => {
      if (!showsLastTurn) return t.skip('the template shows no turn of the model that stands last')
      const turn = { text: '', calls: [turns[4]!.calls[0]!] }
      const output = outputOf(derived, turn, null)
      const started = output.indexOf('line')
      for (let cut = started; cut < started + 12; cut++) {
        const read = readPieces(format, [output.slice(0, cut)])
        assert.equal(read.text.trim(), '')
        assert.equal(read.openCalls, isNamedLast(format) ? 0 : 1)
      }
    })
    it('replays a history with results in order', () => checkHistory(derived))
    if (derived.thinking.isReplayed) it('keeps thinking before text and before a call', () => checkThinking(derived))
  })
}

/** Whether a turn of the model is rendered where it stands last, as no prompt has one. */
function showsPlainTurn(render: RenderProbe): boolean {
  const options = { tools: declarations, addGenerationPrompt: false, enableThinking: null }
  return render([user, { role: 'assistant', content: 'Xqwzplain' }], options).includes('Xqwzplain')
}

/** A call whose name stands behind its arguments cannot be begun before it is over. */
function isNamedLast({ notation }: ToolFormat): boolean {
  const pieces = notation.kind === 'envelope' || notation.kind === 'marked' ? notation.pieces : []
  const [name, given] = ['name', 'arguments'].map((kind) => pieces.findIndex((piece) => piece.kind === kind))
  return name! > given!
}

function checkHistory({ render, format }: Derived): void {
  const result = (index: number): TemplateToolMessage => ({
    role: 'tool',
    content: `result-${index}`,
    tool_call_id: `call_${index}_aBcDeFgHiJk`,
    name: 'get_weather',
  })
  const call = { name: 'get_weather', arguments: { place: 'Oslo' } }
  const history = [
    user,
    writeTurn({ text: 'text-one', calls: [call, call] }, null),
    result(0),
    result(1),
    writeTurn({ text: '', calls: [call] }, null, 2),
    result(2),
    { role: 'assistant', content: 'text-two' } as const,
    { role: 'user', content: 'question-two' } as const,
  ]
  const rendered = render(toTemplateCalls(format, history), {
    tools: declarations,
    addGenerationPrompt: true,
    enableThinking: null,
  })
  let position = 0
  for (const wanted of ['result-0', 'result-1', 'result-2', 'text-two', 'question-two']) {
    position = rendered.indexOf(wanted, position)
    assert.notEqual(position, -1, wanted)
  }
  if (format.history.textBesideCalls !== 'lost') assert.ok(rendered.includes('text-one'))
  assert.ok(rendered.split('get_weather').length > 3, 'the calls are shown')
}

function checkThinking(derived: Derived): void {
  const { thinking, format } = derived
  for (const turn of [turns[2]!, turns[1]!].filter((one) => canCarry(format, one))) {
    const output = outputOf(derived, turn, 'I wonder.')
    const splitter = createThinkingSplitter(
      thinking.tags,
      thinking.promptOpens && !output.trimStart().startsWith(thinking.tags!.open),
    )
    const pieces = [...output.split('').flatMap((piece) => splitter.feed(piece)), ...splitter.close()]
    const join = (kind: 'text' | 'thinking') =>
      pieces
        .filter((piece) => piece.kind === kind)
        .map(({ text }) => text)
        .join('')
    const read = readPieces(format, [join('text')])
    const wanted = expected(format, turn)
    // Behind a turn of text, thinking is found by the parser of Harmony's channels.
    assert.equal((join('thinking') + read.thinking).trim(), 'I wonder.', JSON.stringify(output))
    assert.deepEqual({ text: read.text.trim(), calls: read.calls }, wanted, JSON.stringify(output))
  }
}

describe(`templates of open models${hasOtherTemplates ? '' : ' (none at hand: shared/templates is absent)'}`, () => {
  it('are each derived the same every time', () => {
    for (const { name, source } of templateFiles) {
      const render = renderWith(source)
      assert.deepEqual(deriveToolFormat(render), deriveToolFormat(render), name)
      assert.deepEqual(deriveThinking(render), deriveThinking(render), name)
    }
  })
})
