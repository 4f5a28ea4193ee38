import assert from 'node:assert/strict'
import { ApiError } from '../../src/core/error.ts'
import type { EngineRequest } from '../../src/core/generation.ts'
import { escapeAll, type ClientField } from './client-fields.ts'
import type { ReadPrompt, TemplatePrompts } from './template-prompts.ts'

/** A word that stands where a client's text would, and that no template knows. */
const standIn = 'zuqwstandin'

/** Compares prompts of one template with what they are with a harmless word, which is read once for each field. */
export class PromptComparison {
  readonly #prompts: TemplatePrompts
  readonly #harmless = new Map<string, ReadPrompt | null>()

  constructor(prompts: TemplatePrompts) {
    this.#prompts = prompts
  }

  /**
   * Checks that a client's text is to the model what any harmless word in its place would be.
   *
   * The special tokens are the same, in the same order; and what is between them differs in that text alone,
   * which stands there as it was written, or in the notation of JSON.
   */
  async check(field: ClientField, text: string): Promise<void> {
    const word = standInFor(field, text)
    const harmless = await this.#readHarmless(field, word)
    const hostile = await readOrRefuse(this.#prompts, field.request(text))
    const label = `${field.name}: ${JSON.stringify(text)}`
    if (harmless === null || hostile === null) {
      assert.equal(hostile, harmless, `${label} is refused, or a harmless word is`)
      return
    }
    assert.deepEqual(hostile.specials, harmless.specials, label)
    // Some templates take ids of one shape only, so that others are shown as a digest.
    const spelled = spelledAnyhow(word)
    if (field.isReshaped && !spelled.test(harmless.shown)) return
    const rest = withoutText(hostile.shown, harmless.shown.split(spelled), text)
    assert.equal(rest, '', `${label}: ${hostile.shown}\ninstead of\n${harmless.shown}`)
  }

  async #readHarmless(field: ClientField, word: string): Promise<ReadPrompt | null> {
    const key = `${word} ${field.name}`
    const known = this.#harmless.get(key)
    if (known !== undefined) return known
    const read = await readOrRefuse(this.#prompts, field.request(word))
    this.#harmless.set(key, read)
    return read
  }
}

/** Some templates sort the keys of a schema, among which a name stands where its first letter says. */
function standInFor({ isName }: ClientField, text: string): string {
  return isName === true && /^[\w/]/u.test(text) ? text.charAt(0) + standIn : standIn
}

/** Null where the template does not take such a conversation. */
export async function readOrRefuse(prompts: TemplatePrompts, request: EngineRequest): Promise<ReadPrompt | null> {
  try {
    return await prompts.read(request)
  } catch (error) {
    if (error instanceof ApiError && error.reason.code === 'invalid-request') return null
    throw error
  }
}

/** What is left of a prompt behind the pieces around the text; null where they are not all there. */
function withoutText(shown: string, pieces: readonly string[], text: string): string | null {
  const [first = '', ...others] = pieces
  if (!shown.startsWith(first)) return null
  let rest = shown.slice(first.length)
  for (const piece of others) {
    const spelling = spellings(text).find((one) => rest.startsWith(one + piece))
    if (spelling === undefined) return null
    rest = rest.slice(spelling.length + piece.length)
  }
  return rest
}

/**
 * As it was sent, or in JSON; and where JSON stands in a text of JSON, once more so.
 *
 * Arguments that are no object are shown as the text they are, with whatever escapes the client wrote.
 */
function spellings(text: string): string[] {
  const quote = (inner: string) => JSON.stringify(inner).slice(1, -1)
  const escaped = escapeAll(text).slice(1, -1)
  return [text, escaped].flatMap((one) => [one, quote(one), quote(quote(one))])
}

function spelledAnyhow(word: string): RegExp {
  const longestFirst = spellings(word).toSorted((a, b) => b.length - a.length)
  return new RegExp(longestFirst.map(RegExp.escape).join('|'), 'u')
}
