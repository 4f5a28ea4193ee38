import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isHeldOut } from '../phrase.ts'
import { Random } from '../random.ts'
import { madeToolPrefixes } from '../words/tools-made.ts'
import { inventTool } from './tool-invented.ts'
import { declaredTools, toolRequests } from './tool-prompt.ts'

const snake = (name: string) => name.replaceAll('-', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

test('an invented tool has a description, and its required parameters are in every request', () => {
  for (let index = 0; index < 500; index += 1) {
    const plan = inventTool(new Random(`invented ${index}`))
    assert.match(plan.description, /^[A-Z].*\.$/)
    const required = plan.parameters.filter(({ optional }) => !optional).map(({ names }) => `{${names[0] ?? ''}}`)
    for (const asked of plan.asks)
      for (const slot of required) assert.ok(asked.includes(slot), `${plan.key}: ${asked} without ${slot}`)
  }
})

test('tools that stand together have names of their own', () => {
  for (let index = 0; index < 300; index += 1) {
    const names = declaredTools(new Random(`declared ${index}`), 'train', 5).map(({ name }) => name)
    assert.equal(new Set(names).size, names.length, names.join(' '))
  }
})

test('training declares no tool that is held out, invented or not', () => {
  for (let index = 0; index < 1_000; index += 1) {
    for (const { name } of declaredTools(new Random(`held out ${index}`), 'train', 3)) {
      const key = snake(name)
      // What stands in front of some names is no part of what is held out.
      if (!madeToolPrefixes.some((prefix) => key.startsWith(`${prefix}_`))) assert.ok(!isHeldOut(key), key)
    }
  }
})

test('requests in a series call tools that are declared, now and then the same again', () => {
  let again = 0
  for (let index = 0; index < 300; index += 1) {
    const requests = toolRequests(new Random(`series ${index}`), 'train', 3, 3)
    for (const { tools, call } of requests) assert.ok(tools.some(({ name }) => name === call.name))
    again += Number(new Set(requests.map(({ call }) => call.name)).size < 3)
  }
  assert.ok(again > 100 && again < 250, `${again}`)
})
