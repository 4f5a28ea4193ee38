import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compose, composeDrill, type Conversation } from './compose.ts'
import { judge } from './judge.ts'
import { isHeldOut } from './phrase.ts'
import { Random } from './random.ts'
import { render } from './render.ts'
import { skills } from './skills/all.ts'

const make = (split: 'train' | 'held-out', skill: (typeof skills)[number], index: number) =>
  compose(new Random(`${split} ${skill.name} ${index}`), split, skill, skills)

const last = ({ turns }: Conversation) => {
  const turn = turns.at(-1)
  assert.ok(turn?.role === 'assistant')
  return turn
}

for (const skill of skills) {
  test(`${skill.name}: its own answers are right in the eyes of its judge`, () => {
    for (let index = 0; index < 300; index += 1) {
      const conversation = make(index % 2 === 0 ? 'train' : 'held-out', skill, index)
      const { content, thinking = '', calls = [] } = last(conversation)
      const answer = {
        text: content,
        thinking,
        calls: calls.map((call) => ({ name: call.name, arguments: JSON.stringify(call.arguments) })),
      }
      assert.equal(judge(conversation.judge, answer, conversation.thinks), null, content)
    }
  })

  test(`${skill.name}: the same seed makes the same example, and it can be rendered`, () => {
    for (let index = 0; index < 20; index += 1) {
      const text = render(make('train', skill, index))
      assert.equal(text, render(make('train', skill, index)))
      assert.match(text, /^<\|im_start\|>system\nYou are (hal|clarke|tycho)-1\.0\./)
      assert.match(text, /<\|im_end\|>\n$/)
    }
  })
}

for (const skill of skills.filter(({ drill }) => drill !== undefined)) {
  test(`${skill.name}: a drill ends with a right answer and can be rendered`, () => {
    for (let index = 0; index < 100; index += 1) {
      const conversation = composeDrill(new Random(`drill ${skill.name} ${index}`), skill, skills)
      const { content, thinking = '', calls = [] } = last(conversation)
      const answer = {
        text: content,
        thinking,
        calls: calls.map((call) => ({ name: call.name, arguments: JSON.stringify(call.arguments) })),
      }
      assert.equal(judge(conversation.judge, answer, conversation.thinks), null, content)
      assert.match(render(conversation), /<\|im_end\|>\n$/)
    }
  })
}

test('one phrasing in eight is held out, whatever its case and punctuation', () => {
  const phrasings = Array.from({ length: 4_000 }, (_, index) => `say it in way ${index}`)
  const share = phrasings.filter(isHeldOut).length / phrasings.length
  assert.ok(share > 0.1 && share < 0.15, `${share}`)
  for (const phrasing of phrasings) assert.equal(isHeldOut(phrasing), isHeldOut(`${phrasing.toUpperCase()}?`))
})

test('no question of the evaluation is asked in training', () => {
  const question = ({ turns }: Conversation) => turns.findLast(({ role }) => role === 'user')?.content ?? ''
  const normal = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim()
  for (const skill of skills.filter(({ name }) => name !== 'tool-answer')) {
    const asked = new Set(Array.from({ length: 3_000 }, (_, index) => normal(question(make('train', skill, index)))))
    for (let index = 0; index < 500; index += 1) {
      const { turns } = composeDrill(new Random(`drill ${skill.name} ${index}`), skill, skills)
      for (const turn of turns) if (turn.role === 'user') asked.add(normal(turn.content))
    }
    for (let index = 0; index < 300; index += 1) {
      const text = normal(question(make('held-out', skill, index)))
      assert.ok(!asked.has(text), `${skill.name}: ${text}`)
    }
  }
})
