// What the engine says of where a prompt first differs from the nearest one that was held.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Message, Tool } from '../../../src/core/generation.ts'
import type { LlamaEngine } from '../../../src/engines/llama/llama-engine.ts'
import { randomText } from '../../campaigns/plain-requests.ts'
import { createRandom, type Random } from '../../campaigns/random.ts'
import { askEngine, owner, user } from '../../harness/engines/ask-engine.ts'
import { openLlama } from '../../harness/engines/open-llama.ts'

let engine: LlamaEngine

before(() => {
  engine = openLlama({ cacheBytesMax: 0 })
})
after(() => engine.close())

type Prompt = { readonly tools: readonly Tool[]; readonly messages: readonly Message[] }
type Change = { readonly label: string; readonly prompt: Prompt }

function randomPrompt(random: Random): Prompt {
  // Short texts stand in the markup too, and in one another.
  const text = () =>
    random.chance(0.3) ? random.pick(['e', 'Yes', 'no', 'user', '7', 'ok']) : randomText(random, random.integer(1, 10))
  const tools = Array.from({ length: random.integer(1, 4) }, (_, index): Tool => {
    const properties = { [`key_${index}`]: { type: 'string', description: text() }, same: { type: 'integer' } }
    const parameters = { type: 'object', properties, required: ['same'] }
    return { name: `tool_${index}`, description: text(), parameters, isStrict: false, schemaPath: [], input: 'json' }
  })
  const messages: Message[] = [
    { role: 'system', content: Array.from({ length: random.integer(1, 3) }, () => ({ kind: 'text', text: text() })) },
  ]
  for (let turn = 0; turn < 3; turn += 1) {
    const id = `call_${turn}`
    const call = {
      kind: 'tool-call',
      id,
      name: 'tool_0',
      arguments: JSON.stringify({ key_0: text(), same: turn }),
    } as const
    const result = {
      kind: 'tool-result',
      toolCallId: id,
      isError: false,
      content: [{ kind: 'text', text: text() }],
    } as const
    const thought = { kind: 'thinking', text: text() } as const
    messages.push(user(...Array.from({ length: random.integer(1, 3) }, text)))
    messages.push({ role: 'assistant', content: [thought, { kind: 'text', text: text() }, call] })
    messages.push({ role: 'user', content: [result] })
    messages.push({ role: 'assistant', content: [{ kind: 'text', text: text() }] })
  }
  return { tools, messages: [...messages, user(text())] }
}

/** Changes one part of a prompt, at its end. */
function changeOne(random: Random, prompt: Prompt): Change {
  const { tools, messages } = prompt
  if (random.chance(0.3)) {
    const index = random.integer(0, tools.length - 1)
    const tool = tools[index]!
    const parameters = { ...tool.parameters, required: ['same', `key_${index}`] }
    const changed = random.chance(0.5)
      ? { ...tool, description: `${tool.description} changed` }
      : { ...tool, parameters }
    return { label: `tool ${index + 1} (tool_${index})`, prompt: { tools: tools.with(index, changed), messages } }
  }
  const index = random.chance(0.2) ? 0 : random.integer(1, messages.length - 1)
  const message = messages[index]!
  // The thinking of earlier turns is no part of the prompt.
  const part = random.pick([...message.content.keys()].filter((at) => message.content[at]?.kind !== 'thinking'))
  const content = message.content.map((block, at) => (at === part ? changeBlock(block) : block))
  const changed = { ...message, content } as Message
  const label = `${message.role} message ${index + 1}, block ${part + 1}`
  return { label, prompt: { tools, messages: messages.with(index, changed) } }
}

type Block = Message['content'][number]

function changeBlock(block: Block): Block {
  if (block.kind === 'text') return { ...block, text: `${block.text} changed` }
  if (block.kind === 'tool-result') return { ...block, content: [...block.content, { kind: 'text', text: 'changed' }] }
  if (block.kind === 'tool-call') return { ...block, arguments: block.arguments.replace('"same":', '"same":1') }
  return block
}

for (let seed = 0; seed < 20; seed += 1) {
  test(`the part that was changed is named, seed ${seed}`, async () => {
    const random = createRandom(seed)
    const prompt = randomPrompt(random)
    const { label, prompt: changed } = changeOne(random, prompt)
    const organization = owner(`org_${seed}`)
    await askEngine(engine, { ...prompt, ...organization, outputTokensMax: 2 })
    const { cache, input } = await askEngine(engine, { ...changed, ...organization, outputTokensMax: 2 })
    ok(cache.differs !== null && cache.differs.atToken < input)
    equal(cache.differs.in, label)
    equal(cache.reusedTokens, cache.differs.atToken)
  })
}

test('a turn that goes on where the one before it ended differs in what is new', async () => {
  const messages = [user('What is the number of things that are there?')]
  const organization = owner('org_growing')
  const first = await askEngine(engine, { messages, ...organization })
  const again = await askEngine(engine, { messages, ...organization })
  deepEqual(again.cache.differs, { atToken: first.input, in: 'the markup at the end' })
  const answered: Message[] = [
    ...messages,
    { role: 'assistant', content: [{ kind: 'text', text: 'Some.' }] },
    user('More?'),
  ]
  const { cache } = await askEngine(engine, { messages: answered, ...organization })
  equal(cache.differs?.in, 'assistant message 2, block 1')
})

test('an answer that is to be continued in another way is named', async () => {
  const begun = (text: string) => {
    const messages: Message[] = [user('Count.'), { role: 'assistant', content: [{ kind: 'text', text }] }]
    return { messages, continuesFinalMessage: true, ...owner('org_begun') }
  }
  await askEngine(engine, begun('One, two,'))
  equal((await askEngine(engine, begun('One, three,'))).cache.differs?.in, 'assistant message 2')
})
