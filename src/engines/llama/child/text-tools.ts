import type { EngineRequest } from '../../../core/generation.ts'
import { compileChatTemplate } from '../../../chat-format/chat-template.ts'
import { probeTemplate, type ThinkingTags } from '../../../chat-format/probe-template.ts'
import { deriveToolFormat } from '../../../chat-format/tool-format/derive-tool-format.ts'
import type { ToolFormat } from '../../../chat-format/tool-format/tool-format.ts'
import type { PreparedText } from '../prepared-text.ts'
import { forcesAnswer, planAnswer } from './answer/answer-plan.ts'
import type { NativeText } from './native.ts'
import { createPromptBuilder, type PromptBuilder } from './prompt/prompt-builder.ts'
import type { Pause } from './prompt/prompt-tokens.ts'
import { boundaryTexts, createVocabulary, type Vocabulary } from './vocabulary.ts'

/** All that is known of a model's text from its vocabulary and its template. */
export type TextTools = {
  readonly vocabulary: Vocabulary
  readonly tags: ThinkingTags | null
  /** Null where the template cannot carry calls. */
  readonly toolFormat: ToolFormat | null
  readonly prompts: PromptBuilder
}

/** For weights that bring no template of their own. */
const plainTemplate =
  '{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}'

export function createTextTools({ vocabulary: native, vocabularySize, chatTemplate }: NativeText): TextTools {
  const template = compileChatTemplate(chatTemplate ?? plainTemplate, boundaryTexts(native))
  const traits = probeTemplate(template)
  const toolFormat = deriveToolFormat((messages, options) => template.render(messages, options))
  const vocabulary = createVocabulary(native, {
    size: vocabularySize,
    markup: markupOf(traits.thinkingTags, toolFormat, template.source),
    templateSource: template.source,
  })
  const prompts = createPromptBuilder({ template, traits, toolFormat, vocabulary })
  return { vocabulary, tags: traits.thinkingTags, toolFormat, prompts }
}

/** Makes the tokens of a request's prompt, and the grammar that its answer must keep. */
export async function prepareText(request: EngineRequest, tools: TextTools, pause?: Pause): Promise<PreparedText> {
  const plan = planAnswer(request, tools.toolFormat)
  const options = { opensThinking: plan.forced !== null, ...(pause !== undefined && { pause }) }
  return { plan, prompt: await tools.prompts.build(request, options) }
}

/** Counts the prompt alone: no grammar is made for an answer that nobody will write. */
export async function countPrompt(request: EngineRequest, tools: TextTools, pause: Pause): Promise<number> {
  const options = { opensThinking: forcesAnswer(request, tools.toolFormat), pause }
  return (await tools.prompts.build(request, options)).tokens.length
}

/** Texts in which control tokens are markers that have to be read: those of thinking and of calls. */
function markupOf(tags: ThinkingTags | null, format: ToolFormat | null, source: string): string[] {
  const thinking = tags === null ? [] : [tags.open, tags.close]
  if (format === null) return thinking
  // Of the notations that were not derived, the template alone knows the markers.
  const isDerived = ['envelope', 'marked', 'tagged'].includes(format.notation.kind)
  return [...thinking, ...(isDerived ? stringsIn(format) : [source])]
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}
