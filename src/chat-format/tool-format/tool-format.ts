/** A message as chat templates with tools expect it. */
export type TemplateToolMessage = {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | null
  readonly reasoning_content?: string
  readonly tool_calls?: readonly TemplateToolCall[]
  readonly tool_call_id?: string
  readonly name?: string
}

export type TemplateToolCall = {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: object | string }
}

/** Renders with a model's own template; throws where the template refuses. */
export type RenderProbe = (
  messages: readonly TemplateToolMessage[],
  options: {
    readonly tools: readonly unknown[] | null
    readonly addGenerationPrompt: boolean
    readonly enableThinking: boolean | null
  },
) => string

/**
 * How one model writes tool calls, as derived from its chat template.
 *
 *     answer  = text? section?
 *     section = section.open call (separator call)* section.close
 *
 * All literals are kept exactly as the template writes them, white space included.
 */
export type ToolFormat = {
  readonly notation: CallNotation
  readonly section: Enclosure
  readonly separator: string
  /** Null where one turn may hold any number of calls. */
  readonly callsMax: 1 | null
  readonly history: HistoryForm
  /** The section is followed by the same text that ends every other answer. */
  readonly endsTurn: boolean
}

export type Enclosure = { readonly open: string; readonly close: string }

/** One call. Each notation reads and writes its arguments in a way of its own. */
export type CallNotation =
  | EnvelopeNotation
  | MarkedNotation
  | TaggedNotation
  | { readonly kind: 'pythonic' }
  | { readonly kind: 'bare-keys' }
  | { readonly kind: 'channels' }

/** A call is one JSON object that holds the name and the arguments. */
export type EnvelopeNotation = Enclosure & {
  readonly kind: 'envelope'
  readonly nameKey: string
  readonly argumentsKey: string
  readonly idKey: string | null
  /** What the template writes from the object's first brace to its last. */
  readonly pieces: readonly CallPiece[]
}

/** The name stands between markers and the arguments are one JSON object. */
export type MarkedNotation = Enclosure & { readonly kind: 'marked'; readonly pieces: readonly CallPiece[] }

/** The name stands between markers and every argument between tags of its own. */
export type TaggedNotation = Enclosure & {
  readonly kind: 'tagged'
  readonly nameEnd: string
  readonly parameter: Enclosure & { readonly middle: string; readonly separator: string }
}

/** An `index` counts the calls of a conversation. */
export type CallPiece =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'name' | 'id' | 'arguments' | 'index' }

/** In which form the template wants a conversation, so that nothing in it is lost or garbled. */
export type HistoryForm = {
  readonly argumentsAs: ArgumentsForm
  /** Arguments that are no object, which a client may replay, can be passed as text. */
  readonly takesTextArguments: boolean
  readonly ids: IdShape
  /** Where a turn's text goes that also holds calls. */
  readonly textBesideCalls: TextPlace
  /** Whether a turn of role `tool` is rendered, and whether several may follow each other. */
  readonly toolMessages: 'none' | 'one' | 'several'
}

/** `scalars-as-text` is an object whose numbers, booleans and nulls are spelled as JSON beforehand. */
export type ArgumentsForm = 'object' | 'scalars-as-text' | 'text' | 'own-notation'

export type IdShape =
  | { readonly kind: 'any' }
  | { readonly kind: 'alphanumeric'; readonly length: number }
  | { readonly kind: 'name-and-index' }

/**
 * `before` or `after` the calls of the same turn; in a turn of its `own` in front
 * of it; in the one plain turn that may stand between two turns of the user
 * (`joined`); or nowhere.
 */
export type TextPlace = 'before' | 'after' | 'own' | 'joined' | 'lost'
