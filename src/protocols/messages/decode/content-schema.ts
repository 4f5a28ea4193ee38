import { z } from 'zod'
import { objectOf, optional } from '../../parse-body.ts'
import { listTags, wordUnknownTag } from '../error.ts'

export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, { error: `Input should be one of ${listTags(values)}` })
}

/** A union told apart by `type`, which reports an unknown tag in the words users of the format know. */
export function tagged<
  const Options extends readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]],
>(options: Options, tags: readonly string[]) {
  return z.discriminatedUnion('type', options, {
    error: ({ code, input }) =>
      code === 'invalid_union' ? wordUnknownTag((input as { type?: unknown }).type, tags) : undefined,
  })
}

/** A JSON object whose keys keep their order. */
export const objectSchema = objectOf(z.unknown(), 'Input should be an object')

export const cacheControlSchema = optional(z.object({ type: oneOf(['ephemeral']), ttl: optional(oneOf(['5m', '1h'])) }))

const mark = { cache_control: cacheControlSchema }

const text = z.object({ type: z.literal('text'), text: z.string(), ...mark })

const base64Image = z.object({
  type: z.literal('base64'),
  media_type: oneOf(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
  data: z.string(),
})
const urlSource = z.object({ type: z.literal('url'), url: z.string() })
const fileSource = z.object({ type: z.literal('file'), file_id: z.string() })

const image = z.object({
  type: z.literal('image'),
  source: tagged([base64Image, urlSource, fileSource], ['base64', 'url', 'file']),
  ...mark,
})

const documentContent = z.union([z.string(), z.array(tagged([text, image], ['text', 'image']))], {
  error: 'Input should be a string or an array of text and image blocks',
})

const document = z.object({
  type: z.literal('document'),
  source: tagged(
    [
      z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string() }),
      z.object({ type: z.literal('text'), data: z.string() }),
      z.object({ type: z.literal('content'), content: documentContent }),
      urlSource,
      fileSource,
    ],
    ['base64', 'text', 'content', 'url', 'file'],
  ),
  title: optional(z.string()),
  context: optional(z.string()),
  ...mark,
})

const searchResult = z.object({
  type: z.literal('search_result'),
  source: z.string(),
  title: z.string(),
  content: z.array(tagged([text], ['text'])),
  ...mark,
})

const toolReference = z.object({ type: z.literal('tool_reference'), tool_name: z.string(), ...mark })
const browserState = z.looseObject({ type: z.literal('browser_state'), ...mark })

/** Blocks that another service wrote into a history. Nothing in them is checked: a session must survive a switch. */
const foreignTypes = [
  'server_tool_use',
  'web_search_tool_result',
  'web_fetch_tool_result',
  'code_execution_tool_result',
  'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
  'mcp_tool_use',
  'mcp_tool_result',
  'mcp_tool_listing',
  'advisor_tool_result',
  'advisor_message',
  'fallback',
] as const
const foreign = z.looseObject({ type: z.enum(foreignTypes), ...mark })
const compaction = z.object({ type: z.literal('compaction'), content: optional(z.string()), ...mark })

const toolChange = z.object({
  type: z.enum(['tool_addition', 'tool_removal']),
  tool: z.object({ type: optional(z.string()), name: optional(z.string()) }),
  ...mark,
})
const containerUpload = z.object({ type: z.literal('container_upload') })

const thinking = z.object({
  type: z.literal('thinking'),
  thinking: optional(z.string()),
  signature: optional(z.string()),
})
const redactedThinking = z.object({ type: z.literal('redacted_thinking') })

/**
 * A call that is replayed may be of another service, so its name may be longer than a tool's and have dots,
 * which other formats allow; 200 characters are what services of this format take in a history.
 */
const callName = z
  .string()
  .min(1, 'Input should not be empty')
  .regex(/^[a-zA-Z0-9_.-]*$/, "String should match pattern '^[a-zA-Z0-9_.-]{1,200}$'")
  .max(200, 'String should have at most 200 characters')

const toolUse = z.object({
  type: z.literal('tool_use'),
  id: z.string().min(1, 'Input should not be empty'),
  name: callName,
  input: objectSchema,
  ...mark,
})

const resultBlocks = [text, image, document, searchResult, toolReference, browserState] as const
const resultTags = ['text', 'image', 'document', 'search_result', 'tool_reference', 'browser_state']

const toolResult = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: optional(
    z.union([z.string(), z.array(tagged(resultBlocks, resultTags))], {
      error: 'Input should be a string or an array of content blocks',
    }),
  ),
  is_error: optional(z.boolean()),
  ...mark,
})

const contentBlock = tagged(
  [...resultBlocks, foreign, compaction, toolChange, containerUpload, thinking, redactedThinking, toolUse, toolResult],
  [...resultTags, 'thinking', 'redacted_thinking', 'tool_use', 'tool_result'],
)

export const contentSchema = z.union([z.string(), z.array(contentBlock)], {
  error: 'Input should be a string or an array of content blocks',
})

export const systemSchema = z.union([z.string(), z.array(tagged([text], ['text']))], {
  error: 'Input should be a string or an array of text blocks',
})

export type WireCacheControl = z.infer<typeof cacheControlSchema>
export type WireBlock = z.infer<typeof contentBlock>
export type WireToolUse = z.infer<typeof toolUse>
export type WireToolResult = z.infer<typeof toolResult>
export type WireThinking = z.infer<typeof thinking>
export type WireForeignBlock = z.infer<typeof foreign> | z.infer<typeof browserState>
export type WireToolChange = z.infer<typeof toolChange>
export type WireImage = z.infer<typeof image>
export type WireDocument = z.infer<typeof document>
/** A block that stands for text or an image wherever it occurs. */
export type WireInlineBlock = Exclude<
  WireBlock,
  { type: 'tool_use' | 'tool_result' | 'thinking' | 'redacted_thinking' }
>
