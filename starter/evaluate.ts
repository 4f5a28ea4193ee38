// Asks a running service the held-out questions of every skill and prints how many it answers rightly:
// `node starter/evaluate.ts [weights.gguf] [questions a skill] [--show] [--skill NAME]… [--seed TEXT]`. The weights
// default to the installed ones, the skills to all; another seed asks other questions.

import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startService, type Service } from '../test/harness/start-service.ts'
import { compose, type Conversation } from './compose.ts'
import { judge, type Answer } from './judge.ts'
import { Random } from './random.ts'
import { skills } from './skills/all.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    show: { type: 'boolean', default: false },
    skill: { type: 'string', multiple: true, default: [] },
    seed: { type: 'string', default: '' },
  },
})
const [file, questions = '200'] = positionals
const questionsPerSkill = Number(questions)
const asked = values.skill.length === 0 ? skills : skills.filter(({ name }) => values.skill.includes(name))
const asksAtOnce = 8

const weights = file === undefined ? null : resolve(file)
const model = { weights }
const service = await startService({
  weights: 'built-in',
  config: { models: { 'hal-1.0': model, 'clarke-1.0': model, 'tycho-1.0': model }, logLevel: 'error' },
})

console.log('| Skill | Right | Of | Share | Goal |\n| - | - | - | - | - |')
for (const skill of asked) {
  const waiting = Array.from({ length: questionsPerSkill }, (_, index) =>
    compose(new Random(`held-out ${values.seed}${skill.name} ${index}`), 'held-out', skill, skills),
  ).values()
  let right = 0
  const askWaiting = async () => {
    for (const conversation of waiting) {
      const isAnswered = await isRight(service, conversation)
      right += Number(isAnswered)
    }
  }
  await Promise.all(Array.from({ length: asksAtOnce }, askWaiting))
  const share = right / questionsPerSkill
  if (share < skill.goal) process.exitCode = 1
  console.log(`| ${skill.name} | ${right} | ${questionsPerSkill} | ${percent(share)} | ≥ ${percent(skill.goal)} |`)
}
await service.stop()
process.exit()

async function isRight(service: Service, conversation: Conversation): Promise<boolean> {
  const answer = await ask(service, conversation)
  const fault = judge(conversation.judge, answer, conversation.thinks)
  if (fault === null) return true
  if (values.show) {
    const question = conversation.turns.at(-2)?.content
    console.error(JSON.stringify({ skill: conversation.skill, fault, question, answer }))
  }
  return false
}

async function ask({ address, key }: Service, conversation: Conversation): Promise<Answer> {
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(toRequest(conversation)),
  })
  const body = (await response.json()) as {
    choices?: [{ message: { content: string | null; reasoning_content?: string; tool_calls?: WireCall[] } }]
  }
  const message = body.choices?.[0].message
  if (message === undefined) throw new Error(`The service answered ${response.status}: ${JSON.stringify(body)}`)
  return {
    text: message.content ?? '',
    thinking: message.reasoning_content ?? '',
    calls: (message.tool_calls ?? []).map(({ function: called }) => called),
  }
}

type WireCall = { function: { name: string; arguments: string } }

function toRequest({ model: name, system, tools, schema, turns, thinks }: Conversation): unknown {
  let calls = 0
  const asked = turns.slice(0, -1).map((turn) => {
    if (turn.role === 'tool') return { ...turn, tool_call_id: `call_${calls - 1}` }
    if (turn.role === 'user' || turn.calls === undefined) return { role: turn.role, content: turn.content }
    const made = turn.calls.map(({ name: tool, arguments: values }) => ({
      id: `call_${calls++}`,
      type: 'function',
      function: { name: tool, arguments: JSON.stringify(values) },
    }))
    return { role: turn.role, content: turn.content, tool_calls: made }
  })
  return {
    model: name,
    temperature: 0,
    max_completion_tokens: 600,
    reasoning: { enabled: thinks },
    messages: [...(system === undefined ? [] : [{ role: 'system', content: system }]), ...asked],
    ...(tools !== undefined && { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
    ...(schema !== undefined && {
      response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } },
    }),
  }
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}
