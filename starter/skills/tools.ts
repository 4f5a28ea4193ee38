import { type Example, inSeries, type Skill, type StarterModel, type ToolCall } from '../example.ts'
import { phrase } from '../phrase.ts'
import type { Random } from '../random.ts'
import { famousPeople } from '../words/topics-people.ts'
import { countries } from '../words/topics-places.ts'
import { concepts } from '../words/topics-science.ts'
import { capitalized } from './list-phrase.ts'
import { greetings, offDomain, productQuestions } from './tool-unneeded.ts'
import { declaredTools, toolRequest, type ToolRequest, toolRequests } from './tool-prompt.ts'
import { drawResult } from './tool-results.ts'

/** Choosing the tool that fits and copying its arguments out of the request. */
export const toolCall: Skill = {
  name: 'tool-call',
  weight: 14,
  goal: 0.9,
  make(random, split) {
    const { tools, request, call } = toolRequest(random, split, toolCount(random))
    return {
      tools,
      turns: [
        { role: 'user', content: request },
        { role: 'assistant', content: '', thinking: reasons(call), calls: [call] },
      ],
      judge: { kind: 'calls', calls: [call] },
    }
  },
  drill(random) {
    // The tools cost many words to read: several requests make use of them.
    const requests = toolRequests(random, 'train', random.integer(2, 5), random.integer(2, 5))
    return inSeries(requests.map((one, index) => called(random, one, index === requests.length - 1)))
  },
}

/** A request and its call; before another request, what came of it. */
function called(random: Random, { tools, request, call }: ToolRequest, isLast: boolean): Example {
  const result = drawResult(random, 'train')
  const answer = [
    { role: 'tool', content: result.content },
    { role: 'assistant', content: result.spoken(call.name) },
  ] as const
  return {
    tools,
    turns: [
      { role: 'user', content: request },
      { role: 'assistant', content: '', thinking: reasons(call), calls: [call] },
      ...(isLast ? [] : answer),
    ],
    judge: { kind: 'calls', calls: [call] },
  }
}

/** Saying what a tool returned, always in one form, so that results of any kind can be said. */
export const toolAnswer: Skill = {
  name: 'tool-answer',
  weight: 8,
  goal: 0.95,
  make(random, split) {
    const { tools, request, call } = toolRequest(random, split, random.integer(1, 3))
    const result = drawResult(random, split)
    return {
      tools,
      turns: [
        { role: 'user', content: request },
        { role: 'assistant', content: '', calls: [call] },
        { role: 'tool', content: result.content },
        { role: 'assistant', thinking: `I say what ${call.name} returned.`, content: result.spoken(call.name) },
      ],
      judge: { kind: 'facts', required: [...new Set(result.facts)].map((fact) => fact.replaceAll('|', ' ')) },
    }
  },
}

/** Leaving the tools alone where a request needs none of them. */
export const toolNone: Skill = {
  name: 'tool-none',
  weight: 4,
  goal: 0.9,
  make(random, split) {
    const tools = declaredTools(random, split, toolCount(random))
    const unneeded = random.weighted([
      [greeting, 35],
      [productQuestion, 30],
      [unanswerable, 35],
    ])(random, split)
    return { tools, ...unneeded }
  },
}

function greeting(random: Random, split: Parameters<Skill['make']>[1]): Example {
  const model = random.pick<StarterModel>(['hal-1.0', 'clarke-1.0', 'tycho-1.0'])
  const content = `Hello! I am ${model}, the small built-in model of Odyssey. What can I do for you?`
  return {
    model,
    turns: [
      { role: 'user', content: capitalized(random, phrase(random, split, greetings)) },
      { role: 'assistant', thinking: 'A greeting needs no tool.', content },
    ],
    judge: { kind: 'facts', required: [model, 'Odyssey'] },
  }
}

function productQuestion(random: Random, split: Parameters<Skill['make']>[1]): Example {
  const { asks, answer, fact } = random.pick(productQuestions)
  return {
    turns: [
      { role: 'user', content: capitalized(random, phrase(random, split, asks)) },
      { role: 'assistant', thinking: 'A question about Odyssey needs no tool.', content: answer },
    ],
    judge: { kind: 'facts', required: [fact] },
  }
}

function unanswerable(random: Random, split: Parameters<Skill['make']>[1]): Example {
  const slots = { country: random.pick(countries), person: random.pick(famousPeople), concept: random.pick(concepts) }
  const content =
    'I am the small built-in model of Odyssey and cannot answer that; install real weights with `odyssey models pull` to get an answer.'
  return {
    turns: [
      { role: 'user', content: capitalized(random, phrase(random, split, offDomain, slots)) },
      { role: 'assistant', thinking: 'No tool fits, and I do not know this.', content },
    ],
    judge: { kind: 'facts', required: ['cannot answer that', 'odyssey models pull'] },
  }
}

function reasons(call: ToolCall): string {
  const values = Object.entries(call.arguments).map(([name, value]) => `${name} is ${String(value)}`)
  return values.length === 0 ? `${call.name} fits.` : `${call.name} fits; ${values.join(', ')}.`
}

function toolCount(random: Random): number {
  return random.weighted([
    [1, 25],
    [2, 30],
    [3, 25],
    [4, 12],
    [5, 8],
  ])
}
