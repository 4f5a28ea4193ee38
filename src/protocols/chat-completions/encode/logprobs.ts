import type { TokenLogprob } from '../../../core/generation.ts'

/** The format's stand-in for "too unlikely to say"; JSON has no negative infinity. */
const logprobMin = -9999

export function encodeLogprobs(tokens: readonly TokenLogprob[]) {
  const content = tokens.map((token) => ({ ...encodeToken(token), top_logprobs: token.top.map(encodeToken) }))
  return { content, refusal: null }
}

/** A token may hold part of a character: `token` then shows U+FFFD while `bytes` stays true. */
function encodeToken({ bytes, logprob }: { readonly bytes: Uint8Array; readonly logprob: number }) {
  return {
    token: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes),
    bytes: [...bytes],
    logprob: logprob >= logprobMin ? Math.min(logprob, 0) : logprobMin,
  }
}
