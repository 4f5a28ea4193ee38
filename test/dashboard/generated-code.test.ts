// The playground's request as programs of its clients: each is run as it is shown, against a real service.

import { deepEqual, equal, match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { checkAnswer } from '../../web/src/pages/playground/check-schema.ts'
import { codeChoices, codeOf, type CodeClient } from '../../web/src/pages/playground/code.ts'
import type { Settings, Turn } from '../../web/src/pages/playground/conversation.ts'
import { startService, type Service } from '../harness/start-service.ts'

const run = promisify(execFile)
/** Where the clients are found that are installed with this repository. */
const cache = join(import.meta.dirname, '../../node_modules/.cache')

const settings: Settings = {
  format: 'messages',
  model: 'clarke-1.0',
  system: 'You answer in one sentence.',
  outputTokensMax: '8',
  temperature: '0.5',
  thinking: 'off',
  tools: '[{"name": "look_up", "description": "Looks it up.", "parameters": {"type": "object", "properties": {}}}]',
  schema: '',
  more: {
    topP: '0.9',
    topK: '',
    stops: 'END',
    seed: '',
    presence: '',
    frequency: '',
    choice: 'auto',
    cache: 'none',
  },
}
const turns: readonly Turn[] = [{ kind: 'user', text: `It’s a "quoted" $HOME \`thing\`, isn't it?\nYes.` }]

let service: Service | null = null
let folder = ''
before(async () => {
  mkdirSync(cache, { recursive: true })
  folder = mkdtempSync(join(cache, 'generated-code-'))
  service = await startService()
})
after(async () => {
  rmSync(folder, { recursive: true, force: true })
  await service?.stop()
})

const codeFor = (client: CodeClient) => codeOf(client, { address: service?.address ?? '', settings, turns })

suite('the code that the playground shows', () => {
  for (const client of ['openai-node', 'anthropic-node', 'vercel-ai', 'langchain'] as const) {
    test(`code for ${client} runs as it is, and is answered`, async () => {
      const [, program] = codeFor(client)
      const file = join(folder, `${client}.mjs`)
      writeFileSync(file, program?.text ?? '')
      const env = { ...process.env, ODYSSEY_KEY: service?.key ?? '' }
      const { stdout } = await run(process.execPath, [file], { env })
      match(stdout, /\S/)
    })
  }

  for (const format of ['messages', 'chat-completions'] as const) {
    test(`code for curl runs as it is, and is answered in the format ${format}`, async () => {
      const [shell] = codeOf('curl', { address: service?.address ?? '', settings: { ...settings, format }, turns })
      const env = { ...process.env, ODYSSEY_KEY: service?.key ?? '' }
      const { stdout } = await run('bash', ['-c', `${shell?.text} --silent --fail-with-body`], { env })
      const answer = JSON.parse(stdout) as { readonly content?: unknown; readonly choices?: unknown }
      equal(format === 'messages' ? Array.isArray(answer.content) : Array.isArray(answer.choices), true, stdout)
    })
  }

  test('has the key in no client’s text, and the variable in each', () => {
    for (const { value } of codeChoices) {
      const text = codeFor(value)
        .map((snippet) => snippet.text)
        .join('\n')
      match(text, /ODYSSEY_KEY/, value)
      equal(text.includes('sk-ody-'), false, value)
    }
  })

  test('asks Claude Code what was asked last, also where the answer is to be gone on with', () => {
    const more: readonly Turn[] = [...turns, { kind: 'assistant', text: 'It is', calls: [] }]
    const [shell] = codeOf('claude-code', { address: 'http://localhost', settings, turns: more })
    match(shell?.text ?? '', /claude -p 'It’s a "quoted"/)
  })

  test('writes values as Python has them', () => {
    const [, program] = codeFor('openai-python')
    match(program?.text ?? '', /extra_body=\{\n\s+"thinking": \{/)
    equal(/\b(?:true|false|null)\b/.test(program?.text ?? ''), false)
  })
})

test('an answer is held to its schema, and the first fault is named by its place', () => {
  const schema = {
    type: 'object',
    properties: {
      city: { type: 'string' },
      sizes: { type: 'array', items: { type: 'integer' } },
      kind: { enum: ['a'] },
    },
    required: ['city'],
    additionalProperties: false,
  }
  const verdicts = [
    '{"city": "Rome", "sizes": [1, 2]}',
    '{"sizes": []}',
    '{"city": 1}',
    '{"city": "x", "sizes": [1, 2.5]}',
    '{"city": "x", "kind": "b"}',
    '{"city": "x", "more": 1}',
    'no',
  ].map((text) => checkAnswer(text, schema))
  deepEqual(verdicts, [
    null,
    'the answer lacks city',
    'the answer.city is not string',
    'the answer.sizes[1] is not integer',
    'the answer.kind is not one of the list',
    'the answer has more, which is not allowed',
    'it is not JSON',
  ])
})
