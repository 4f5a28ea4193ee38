import assert from 'node:assert/strict'
import type { EngineRequest } from '../../../src/core/generation.ts'
import { createMessagesProtocol } from '../../../src/protocols/messages/messages-format.ts'
import { makeWellFormed } from '../../../src/http/bodies/decode-body.ts'
import { chatCompletions } from '../../harness/decode-chat.ts'
import { engineRequest } from '../../harness/requests.ts'
import { templateFiles } from '../../templates/template-files.ts'
import { openTemplatePrompts, type ReadPrompt, type TemplatePrompts } from '../../templates/template-prompts.ts'
import { readOrRefuse } from '../../templates/compare-prompts.ts'
import { Failures, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { createRandom, type Random } from '../random.ts'
import { nameCount, randomBody, textCount, type Body, type Texts } from './hostile-bodies.ts'
import { hostileName, hostileText } from './hostile-texts.ts'

/**
 * Whole requests of both formats with texts that nobody harmless would write, on every template at hand.
 *
 * Each is compared with its twin that has harmless words in the same places: the control tokens of the
 * two prompts are the same, in the same order, and each text is spelled as it was sent.
 */
export async function runControlTokens({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const opened = await Promise.all(
    templateFiles.map(async ({ name, source }) => ({ name, prompts: await openTemplatePrompts(source) })),
  )
  let refused = 0
  let compared = 0
  for (let index = 0; index < count; index++) {
    const random = createRandom(seed, index)
    const { name, prompts } = random.pick(opened)
    const body = randomBody(random)
    const texts = hostileTexts(random, prompts.reserved)
    const label = `case ${index}, ${name}, ${body.format}`
    const { hostile, twin } = await readPair(prompts, body, texts)
    if (hostile === null && twin === null) refused += 1
    else if (hostile === null || twin === null)
      failures.add('one of two is refused', `${label} ${JSON.stringify(texts)}`)
    else {
      compared += 1
      failures.check(label, () => compareSpecials({ hostile, twin }, prompts.reserved))
      failures.check(label, () => compareTexts({ hostile, twin }, texts))
    }
    if ((index + 1) % 5_000 === 0) log(`${index + 1} requests, ${failures.count} failures`)
  }
  return failures.toResult({ templates: opened.length, compared, 'refused by a template': refused })
}

type Pair = { readonly hostile: ReadPrompt; readonly twin: ReadPrompt }

/** Most texts are harmless, so that a template that refuses one of them does not hide the others. */
function hostileTexts(random: Random, reserved: readonly string[]): Texts {
  const text = harmless.text.map((word) => (random.chance(0.3) ? hostileText(random, reserved) : word))
  const name = harmless.name.map((word) => (random.chance(0.5) ? hostileName(random, reserved) : word))
  // Two names that are the same, or keys, would be one.
  const isDistinct = (words: readonly string[]) => new Set(words).size === words.length
  return isDistinct([...text, ...name]) ? { text, name } : harmless
}

const harmless: Texts = {
  text: Array.from({ length: textCount }, (_, index) => `zuqw${index}qz`),
  name: Array.from({ length: nameCount }, (_, index) => `wovq${index}qv`),
}

/** Null is a prompt that the template refuses. */
async function readPair(prompts: TemplatePrompts, body: Body, texts: Texts) {
  const read = (one: Texts) => readOrRefuse(prompts, toRequest(body, one))
  return { hostile: await read(texts), twin: await read(harmless) }
}

const messages = createMessagesProtocol({ signatureKey: new Uint8Array(32) })

function toRequest(body: Body, texts: Texts): EngineRequest {
  const sent = makeWellFormed(body.write(texts))
  const { request } = (body.format === 'chat' ? chatCompletions : messages).decode(sent)
  const { choiceCount: _, thinking: __, outputTokensMax: ___, ...rest } = request
  return engineRequest(rest)
}

/** Added words that the template does not write are a client's to write. */
function compareSpecials({ hostile, twin }: Pair, reserved: readonly string[]): void {
  const [found, expected] = [hostile, twin].map(({ specials }) => specials.filter((text) => reserved.includes(text)))
  assert.ok(found?.join(' ') === expected?.join(' '), `other control tokens: ${hostile.shown}`)
}

/** Arguments that are no object are shown with the escapes they were sent with, and ids as some templates need them. */
const reshaped = new Set([5, 14])

/** Read back from text with escapes, one backslash and two could not be told apart. */
const isArgument = (index: number) => index < 5

function compareTexts({ hostile, twin }: Pair, { text }: Texts): void {
  // A word that was added to the vocabulary and that the template never writes is a client's to write, and no other text.
  const spelledOut = hostile.shown.replaceAll('\u0001', '').replaceAll('\u0002', '')
  // Arguments that a template takes as text keep the escapes they were sent with.
  const unescaped = spelledOut
    .replace(/\\u([\da-f]{4})/giu, (_, code: string) => unescape(code))
    .replaceAll('\\/', '/')
    .replaceAll('\\n', '\n')
    .replaceAll('\\t', '\t')
  const shown = [spelledOut, unescaped]
  for (const [index, sent] of text.entries()) {
    const word = harmless.text[index] ?? ''
    // What a template leaves out is left out; and in JSON half a character is an escape.
    if (
      reshaped.has(index) ||
      (isArgument(index) && sent.includes('\\')) ||
      sent === word ||
      !twin.shown.includes(word) ||
      !sent.isWellFormed()
    )
      continue
    const spellings = [sent, JSON.stringify(sent).slice(1, -1)].map((one) => one.trim())
    const isSpelled = spellings.some((spelling) => shown.some((one) => one.includes(spelling)))
    assert.ok(isSpelled, `text ${index} is not spelled as it was sent: ${JSON.stringify(sent)}`)
  }
}

function unescape(code: string): string {
  return String.fromCharCode(Number.parseInt(code, 16))
}
