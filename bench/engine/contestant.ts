/** A request to be answered with an exact number of tokens. */
export type Ask = { readonly system: string; readonly question: string; readonly tokens: number }

export type Answer = {
  readonly promptTokens: number
  /** Those of the prompt that did not have to be computed again. */
  readonly cachedTokens: number
  readonly outputTokens: number
  /** When it was asked, when its first text came and when it was over, by `performance.now()`. */
  readonly startMs: number
  readonly firstMs: number
  readonly endMs: number
  /** When each piece of its text came, the first included; there is about one for each token, and one for the end. */
  readonly textsMs: readonly number[]
}

/** Something that answers. All of them run at the same time and are asked in turn. */
export type Contestant = {
  readonly name: string
  ask(ask: Ask): Promise<Answer>
  /** Ends it and starts it again; null where that keeps nothing that would be worth measuring. */
  readonly restart: (() => Promise<void>) | null
  stop(): Promise<unknown>
}

/** The settings of every contestant, so that none has more than another. */
export type Setting = {
  readonly weightsPath: string
  readonly gpu: 'off' | 'auto' | 'cuda' | 'vulkan' | 'metal'
  /** Null leaves it to each contestant, as it comes. */
  readonly threads: number | null
  readonly slots: number
  /** Prompt and answer of one slot together. */
  readonly windowTokens: number
  readonly batchTokens: number
  /** Memory for prompts that have left their slots. */
  readonly cacheBytes: number
  /** 0 always chooses the likeliest token; with another, nothing else limits the choice. */
  readonly temperature: number
}
