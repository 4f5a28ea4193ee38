// A request before anything is computed, as plain data: the text child makes it and the engine child
// generates from it.

import type { ErrorPath } from '../../core/error.ts'

export type PreparedText = { readonly prompt: Prompt; readonly plan: AnswerPlan }

export type Prompt = {
  readonly tokens: Uint32Array
  readonly thinks: boolean
  /** The prompt ends inside an open thinking block. */
  readonly startsThinking: boolean
  /** Prefixes the client asked to keep. */
  readonly breakpoints: readonly Breakpoint[]
  /** Tokens up to the end of the last message, without the markup that opens the answer. */
  readonly conversationLength: number
  /** The parts of the request in the order of the prompt. */
  readonly blocks: readonly PromptBlock[]
}

/** The first `length` tokens of a prompt, which the client asked to keep. */
export type Breakpoint = { readonly length: number; readonly lifetimeMs: number }

/** Has every token that begins before its end and behind the block before it. */
export type PromptBlock = {
  /** For people: `tool 1 (look_up)`, `user message 4, block 1`. */
  readonly label: string
  readonly endToken: number
}

/** The form that the answer must have once thinking is over. */
export type AnswerPlan = {
  /** A grammar for the whole answer; null leaves it free. */
  readonly forced: string | null
  /**
   * A grammar that holds from a marker on, which is part of it; what comes before the marker is free. `lead` is what the
   * prompt has written of a marker; `behindPrompt` is the grammar without that, null where there is none.
   */
  readonly lazy: {
    readonly triggers: readonly string[]
    readonly lead: string
    readonly grammar: string
    readonly behindPrompt: string | null
  } | null
  /** Markup of calls is read as calls. */
  readonly readsCalls: boolean
  /** The answer is calls and nothing else. */
  readonly isCallsOnly: boolean
  /** Texts the answer must not contain: with these the model would begin a call that nobody wants. */
  readonly banned: readonly string[]
  /** Where in the request's schemas keywords stand that the grammar leaves to the client to check. */
  readonly unenforced: readonly ErrorPath[]
}
