import { loadConfig } from '../config/load.ts'
import type { RequestId } from '../core/ids.ts'
import { findRecordedUsage, type RecordedUsage } from '../billing/ledger/read-ledger.ts'
import { openExistingInstallation } from '../service/joins/open-installation.ts'
import { parseArguments } from './parse-arguments.ts'
import { UsageError } from './usage-error.ts'
import { inputTokens, type CacheReport } from '../core/generation.ts'

const options = { json: { type: 'boolean', default: false } } as const

/** `odyssey cache explain`: how much of a request's prompt was reused, and why no more. */
export async function cacheCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, words: { explain: 1 } })
  const [action, id] = positionals
  if (action !== 'explain' || id === undefined) throw new UsageError('cache takes explain REQUEST.')
  const { db } = await openExistingInstallation(loadConfig())
  try {
    const row = await findRecordedUsage(db, id as RequestId)
    if (row === null)
      throw new Error(
        `There is no request ${id}. Its id is in the answer's header request-id (messages) or x-request-id (chat completions).`,
      )
    console.log(
      values.json ? JSON.stringify({ model: row.model, usage: row.usage, cache: row.cache }) : explainCache(row),
    )
  } finally {
    await db.destroy()
  }
}

const sources: Readonly<Record<CacheReport['source'], string>> = {
  slot: 'from the slot in which the conversation before it had ended',
  copy: 'copied from a request that was under way at the same time',
  memory: 'from memory, where it was put when its slot was needed',
  disk: 'from the disk, where it was kept over a restart',
  none: 'nothing',
}

/** A shorter beginning is not carried to another slot; see `find-candidates.ts` of the engine. */
const worthMovingTokens = 64

/** Says in a few lines how much of a prompt was reused, from where, and why no more. */
export function explainCache(row: RecordedUsage): string {
  const { usage, cache, isReplicas } = row
  const prompt = inputTokens(usage)
  if (cache === null) return `${row.model}: the request did not reach a slot, or its engine says nothing of its cache.`
  const kept = usage.inputCacheWriteLong > 0 ? `, ${count(usage.inputCacheWriteLong)} of them for an hour` : ''
  const source = isReplicas && cache.source !== 'none' ? 'as the replica says that answered' : sources[cache.source]
  return [
    `${row.model}, a prompt of ${count(prompt)} tokens`,
    `  reused    ${column(usage.inputCacheRead)}  ${share(usage.inputCacheRead, prompt)}, ${source}`,
    `  written   ${column(usage.inputCacheWrite)}  computed, and kept because the client marked it${kept}`,
    `  computed  ${column(usage.inputUncached)}  computed besides`,
    isReplicas ? replicasReason : whyNoMore(cache, prompt),
  ].join('\n')
}

const replicasReason = 'A replica of a pool answered, which tells how much it reused, if that, and not why no more.'

function whyNoMore({ reusedTokens, differs }: CacheReport, prompt: number): string {
  if (differs === null) return 'Nothing was held for this organization, or it had outlived the time it was kept for.'
  const { atToken, in: part } = differs
  if (atToken >= prompt - 1) return `The whole prompt was held. ${wholePromptReason(prompt - reusedTokens)}`
  const difference = `The nearest prompt held begins with the same ${count(atToken)} tokens; the first difference is in ${part}.`
  if (reusedTokens >= atToken) return difference
  return `${difference} ${unusedReason(reusedTokens, atToken)}`
}

function wholePromptReason(computed: number): string {
  if (computed <= 1) return 'Its last token is always computed.'
  return 'The model can go back only to certain points, and what stands behind the last of them was computed again.'
}

function unusedReason(reused: number, shared: number): string {
  if (reused > 0)
    return `The model cannot go on from just there and went on from token ${count(reused)}, the nearest point before.`
  if (shared < worthMovingTokens)
    return 'That is too little to be worth giving another conversation up for, or to copy.'
  return 'It was not used: the model had no point to go on from there, or moving all that was held there would have cost more.'
}

function count(tokens: number): string {
  return tokens.toLocaleString('en-US')
}

function column(tokens: number): string {
  return count(tokens).padStart(9)
}

function share(tokens: number, prompt: number): string {
  return `${prompt === 0 ? 0 : Math.floor((1_000 * tokens) / prompt) / 10} %`
}
