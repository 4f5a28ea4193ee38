import { equal } from 'node:assert/strict'
import { commonPrefix } from '../../src/engines/llama/child/prompt-cache/token-list.ts'
import { ask } from '../harness/http/ask.ts'
import type { Service } from '../harness/start-service.ts'
import type { PromptReader } from './prompt-reader.ts'

export type TurnBody = Readonly<Record<string, unknown>> & { readonly system: readonly unknown[] }

/** How much of a turn's prompt was there already, and how much of that was used. */
export type CacheHit = { readonly prompt: number; readonly reusable: number; readonly read: number }

type Usage = Readonly<
  Record<'input_tokens' | 'cache_read_input_tokens' | 'cache_creation_input_tokens', number | undefined>
>

/**
 * Sends a conversation turn by turn, each behind an attribution that differs from the one before, as
 * Claude Code does.
 *
 * What could be reused is what a turn has in common with the one before where neither has an attribution.
 */
export async function replayTurns(
  service: Service,
  turns: readonly TurnBody[],
  readPrompt: PromptReader,
): Promise<CacheHit[]> {
  const hits: CacheHit[] = []
  let before = new Uint32Array()
  for (const [index, turn] of turns.entries()) {
    // A few tokens of answer say no more of the prompt than many.
    const plain = { ...turn, stream: false, max_tokens: 4 }
    const body = { ...plain, system: [attribution(index), ...turn.system] }
    const answer = await ask(service, '/v1/messages?beta=true', { body })
    equal(answer.status, 200, answer.text)
    const usage = answer.json()['usage'] as Usage
    const read = usage.cache_read_input_tokens ?? 0
    const tokens = await readPrompt(plain)
    const prompt = (usage.input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0) + read
    equal(prompt, tokens.length, 'the prompt is the one that is compared')
    hits.push({ prompt, reusable: commonPrefix(before, tokens), read })
    before = new Uint32Array(tokens)
  }
  return hits
}

/** What share of all that could be reused was, from the second turn on. */
export function hitShare(hits: readonly CacheHit[]): number {
  const later = hits.slice(1)
  const sum = (of: (hit: CacheHit) => number) => later.reduce((total, hit) => total + of(hit), 0)
  return sum(({ reusable, read }) => Math.min(reusable, read)) / sum(({ reusable }) => reusable)
}

export function describeHits(hits: readonly CacheHit[]): string {
  const turns = hits.map(({ prompt, reusable, read }) => `${read} of ${reusable} (prompt ${prompt})`)
  return `${(hitShare(hits) * 100).toFixed(2)} %: ${turns.join(', ')}`
}

function attribution(turn: number): { readonly type: 'text'; readonly text: string } {
  const fingerprint = ((turn + 1) * 0x9e37).toString(16)
  return { type: 'text', text: `x-anthropic-billing-header: cc_version=2.1.330.${fingerprint}; cc_entrypoint=sdk-cli;` }
}
