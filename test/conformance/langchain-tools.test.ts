// Tools through LangChain: a scripted model calls two tools at once and tells what they said.

import '../harness/isolated-environment.ts'
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { HumanMessage, type AIMessageChunk, type BaseMessage } from '@langchain/core/messages'
import { DynamicStructuredTool } from '@langchain/core/tools'
import { recordFetch } from '../harness/http/record-fetch.ts'
import type { Listening } from './clients/client.ts'
import { chatModels } from './clients/langchain.ts'
import { brokenInCall, startFaultyService } from './faults/faulty-service.ts'
import {
  checkHistory,
  question,
  startWeatherService,
  told,
  toldAsJson,
  weatherOf,
  weatherSchema,
  type WeatherService,
} from './weather-model.ts'

const weather = new DynamicStructuredTool({
  name: 'get_weather',
  description: 'Tells the weather.',
  schema: weatherSchema,
  func: async (input: unknown) => weatherOf((input as { readonly city: string }).city),
})

let service: WeatherService

before(async () => {
  service = await startWeatherService()
})
after(() => service.close())

for (const { name, create } of chatModels) {
  describe(name, () => {
    const recorded = recordFetch()
    const model = ({ address, key }: Listening = service) =>
      create({ address, key, fetch: recorded.fetch, model: 'clarke-1.0' })

    beforeEach(() => {
      service.requests.splice(0)
      recorded.clear()
    })

    /** Asks, calls what is to be called, and asks again until there is nothing to call. */
    async function loop(ask: (messages: BaseMessage[]) => Promise<AIMessageChunk>): Promise<string> {
      const messages: BaseMessage[] = [new HumanMessage(question)]
      for (let turn = 0; turn < 4; turn++) {
        const answer = await ask(messages)
        messages.push(answer)
        if (answer.tool_calls?.length === 0) return answer.text
        deepEqual(answer.invalid_tool_calls, [])
        for (const call of answer.tool_calls ?? []) messages.push(await weather.invoke(call))
      }
      throw new Error('The loop does not end.')
    }

    test('a loop of calls', async () => {
      const bound = model().bindTools([weather])
      equal(await loop((messages) => bound.invoke(messages)), told)
      checkHistory(service.requests)
    })

    test('a streamed loop of calls', async () => {
      const bound = model().bindTools([weather])
      const text = await loop(async (messages) => {
        let sum: AIMessageChunk | undefined
        for await (const chunk of await bound.stream(messages)) sum = sum === undefined ? chunk : sum.concat(chunk)
        return sum!
      })
      equal(text, told)
      checkHistory(service.requests)
      equal(await recorded.checkStreams(), 2)
    })

    test('a tool that must be called', async () => {
      for (const choice of ['any', 'get_weather']) {
        const { tool_calls: calls } = await model().bindTools([weather], { tool_choice: choice }).invoke(question)
        deepEqual(
          calls?.map(({ args }) => args),
          [{ city: 'Köln' }, { city: 'Paris' }],
        )
        const asked = service.requests.at(-1)?.toolChoice.kind
        equal(asked, choice === 'any' ? 'required' : 'named')
      }
    })

    test('an object after the tools', async () => {
      const bound = model().bindTools([weather])
      const reportSchema = { title: 'report', type: 'object', properties: { report: { type: 'string' } } }
      const messages: BaseMessage[] = [new HumanMessage(question)]
      const calling = await bound.invoke(messages)
      messages.push(calling)
      for (const call of calling.tool_calls ?? []) messages.push(await weather.invoke(call))
      const structured = model().withStructuredOutput(reportSchema, { method: 'jsonSchema' })
      deepEqual(await structured.invoke(messages), toldAsJson)
      equal(service.requests[1]?.output.kind, 'json')
    })

    test('a call that breaks off is an error and no call', async () => {
      const faulty = await startFaultyService({ always: brokenInCall })
      const chunks: AIMessageChunk[] = []
      const reading = async () => {
        for await (const chunk of await model(faulty).bindTools([weather]).stream(question)) chunks.push(chunk)
      }
      await rejects(reading(), (error: Error) => {
        match(error.message, /failed to complete the request|Internal server error/)
        return true
      })
      await faulty.close()
      ok(chunks.length > 0)
    })
  })
}
