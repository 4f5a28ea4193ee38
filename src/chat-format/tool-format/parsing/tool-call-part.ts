/** What a parser finds in a model's output. The `arguments` of one call join to the JSON text of an object. */
export type ToolCallPart =
  | { readonly kind: 'text'; readonly text: string }
  /** Markup in front of the text that means nothing. */
  | { readonly kind: 'stray'; readonly text: string }
  /** Thinking that only a notation with channels can hold outside its thinking block. */
  | { readonly kind: 'thinking'; readonly text: string }
  | { readonly kind: 'call-start'; readonly name: string; readonly id: string | null }
  | { readonly kind: 'arguments'; readonly text: string }
  | { readonly kind: 'call-end' }

/** The output that has not been read yet. Readers are generators that yield where they need more of it. */
export interface OutputSource {
  text: string
  hasEnded: boolean
  readonly push: (part: ToolCallPart) => void
}

export type Reading<Result = void> = Generator<undefined, Result, undefined>

export function pushText(source: OutputSource, text: string): void {
  if (text !== '') source.push({ kind: 'text', text })
}

export function pushArguments(source: OutputSource, text: string): void {
  if (text !== '') source.push({ kind: 'arguments', text })
}

export function drop(source: OutputSource, length: number): void {
  source.text = source.text.slice(length)
}
