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
  /** The end of a prompt that the markup of the answer begins with, which the model therefore goes on from. */
  readonly lead: string
  /** What a plain answer begins with; the lead is a part of it. */
  readonly textOpen: string
  /** The template has no notation of its own. */
  readonly isGeneric: boolean
  /** Whether the template shows the tools that are declared; else they are described in the system text. */
  readonly showsTools: boolean
}

/** What most templates have in common. */
export const plainFrame = { lead: '', textOpen: '', isGeneric: false, showsTools: true } as const

export type Enclosure = { readonly open: string; readonly close: string }

/** One call. Each notation reads and writes its arguments in a way of its own. */
export type CallNotation = DerivedNotation | KnownCalls

/** A notation that is found out by comparing what a template renders. */
export type DerivedNotation = EnvelopeNotation | MarkedNotation | TaggedNotation

/** A notation that is written by hand, in `chat-format/known/`. */
export type KnownCalls =
  | { readonly kind: 'pythonic' | 'harmony' }
  /** Texts stand between two quotes that no text holds. */
  | { readonly kind: 'bare-keys'; readonly quote: string }

export type KnownKind = KnownCalls['kind']

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
  /** What follows the name. `nameSlot` in it is the name once more, and `indexSlot` a number that counts the calls. */
  readonly nameEnd: string
  readonly parameter: TaggedParameter
}

/** Stands for a name in a literal that repeats it. No template writes this character. */
export const nameSlot = '\u0000'

/** Stands for a number in a literal that differs from call to call. No template writes this character either. */
export const indexSlot = '\u0001'

/** One argument: `open` name `middle` value `close`. `nameSlot` in `close` is the name once more. */
export type TaggedParameter = ValueFrame & {
  readonly open: string
  readonly separator: string
  /** Where values of some types stand between other texts than strings do. */
  readonly typed: Partial<Readonly<Record<JsonType, ValueFrame>>>
  /** Put around a string that holds characters of the markup. */
  readonly guard: Enclosure | null
  /** Lists and objects are written as further elements, an item of a list under this name; null where they are JSON. */
  readonly itemName: string | null
}

export type ValueFrame = { readonly middle: string; readonly close: string }

export type JsonType = 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'array' | 'object'

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
  readonly textBesideCalls: TextPlacement
  /** Whether a turn of role `tool` is rendered, and whether several may follow each other; `none` makes user turns of them. */
  readonly toolMessages: 'none' | 'one' | 'several'
}

/**
 * `scalars-as-text` is an object whose numbers, booleans and nulls are spelled as JSON beforehand;
 * `content` puts whole calls into the text of the turn, since the template drops or garbles them.
 */
export type ArgumentsForm = 'object' | 'scalars-as-text' | 'text' | 'own-notation' | 'content'

export type IdShape =
  | { readonly kind: 'any' }
  | { readonly kind: 'alphanumeric'; readonly length: number }
  | { readonly kind: 'name-and-index' }

/**
 * `before` or `after` the calls of the same turn; in a turn of its `own` in front
 * of it; in the one plain turn that may stand between two turns of the user
 * (`joined`); or nowhere.
 */
export type TextPlacement = 'before' | 'after' | 'own' | 'joined' | 'lost'
