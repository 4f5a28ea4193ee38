import type { EngineRequest } from '../../core/generation.ts'
import { compileChatTemplate, describeFault, type ChatTemplate } from '../../chat-format/chat-template.ts'
import { JinjaFault } from '../../chat-format/jinja/interpreter.ts'
import { reportFitness, type FitnessReport } from '../../chat-format/fitness-report.ts'
import { probeTemplate, type TemplateTraits, type ThinkingTags } from '../../chat-format/probe-template.ts'
import { deriveGenericFormat, deriveToolFormat } from '../../chat-format/tool-format/derive-tool-format.ts'
import { giveToolFormat, type GivenNotation } from '../../chat-format/tool-format/given-format.ts'
import type { RenderProbe, ToolFormat } from '../../chat-format/tool-format/tool-format.ts'
import { overrideFault, templateFault } from './template-fault.ts'
import type { PreparedText } from './prepared-text.ts'
import { prepareFormats } from '../../grammar/formats.ts'
import { forcesAnswer, planAnswer } from './answer/answer-plan.ts'
import type { PlanMemory } from './answer/plan-memory.ts'
import { createPromptBuilder, type PromptBuilder } from './prompt/prompt-builder.ts'
import type { PieceMemory } from './prompt/piece-memory.ts'
import type { Pause } from './prompt/prompt-tokens.ts'
import { boundaryTexts, createVocabulary, type NativeText, type Vocabulary } from './vocabulary.ts'

/** All that is known of a model's text from its vocabulary and its template. */
export type TextTools = {
  readonly vocabulary: Vocabulary
  readonly vocabularySize: number
  readonly tags: ThinkingTags | null
  /** Null where the template cannot carry calls. */
  readonly toolFormat: ToolFormat | null
  readonly prompts: PromptBuilder
  /** Null where each plan is made anew. */
  readonly plans: PlanMemory | null
  readonly fitness: FitnessReport
}

/** Where an operator knows better than what was derived. */
export type ChatOverrides = {
  readonly tools: 'derived' | 'generic' | GivenNotation
  readonly thinking: 'derived' | 'none' | { readonly open: string; readonly close: string }
  readonly system?: 'derived' | 'own-turn' | 'first-user-turn'
  readonly lateSystem?: 'derived' | 'in-place' | 'next-user-turn'
}

/** For weights that bring no template of their own. */
export const plainTemplate =
  '{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}'

export function createTextTools(
  { vocabulary: native, vocabularySize, chatTemplate }: NativeText,
  overrides: ChatOverrides | null = null,
  memory: PieceMemory | null = null,
  plans: PlanMemory | null = null,
): TextTools {
  prepareFormats()
  const template = compileOrRefuse(chatTemplate ?? plainTemplate, native)
  const traits = overrideTraits(probeTemplate(template), overrides)
  const toolFormat = toolFormatOf(template.probe, overrides?.tools ?? 'derived')
  const vocabulary = createVocabulary(native, {
    size: vocabularySize,
    markup: markupOf(traits.thinkingTags, toolFormat, template.source),
    templateSource: template.source,
  })
  const prompts = createPromptBuilder({ template, traits, toolFormat, vocabulary, memory })
  const isGiven = typeof overrides?.tools === 'object'
  const fitness = reportFitness({ template, traits, toolFormat, isGiven })
  return { vocabulary, vocabularySize, tags: traits.thinkingTags, toolFormat, prompts, plans, fitness }
}

/** Throws where calls in a given notation do not come back as they went in. */
function toolFormatOf(render: RenderProbe, tools: ChatOverrides['tools']): ToolFormat | null {
  if (tools === 'derived') return deriveToolFormat(render)
  if (tools === 'generic') return deriveGenericFormat(render)
  const format = giveToolFormat(render, tools)
  if (format !== null) return format
  throw new Error(overrideFault(`Calls in the notation "${tools.notation}" that "tools" gives do not come back whole.`))
}

/** Throws where the template leaves out system text that is said to have a turn of its own. */
function overrideTraits(traits: TemplateTraits, overrides: ChatOverrides | null): TemplateTraits {
  const { thinking = 'derived', system = 'derived', lateSystem = 'derived' } = overrides ?? {}
  if (system === 'own-turn' && !traits.takesSystem)
    throw new Error(overrideFault('The template leaves out a turn of role system, to which "system" gives the text.'))
  if (lateSystem === 'in-place' && !traits.takesLateSystem)
    throw new Error(overrideFault('The template leaves out a later turn of role system, which "lateSystem" asks for.'))
  return {
    ...traits,
    ...(thinking !== 'derived' && { thinkingTags: thinking === 'none' ? null : thinking }),
    ...(system === 'first-user-turn' && { takesSystem: false }),
    ...(lateSystem === 'next-user-turn' && { takesLateSystem: false }),
  }
}

/** A template that fails is found out now, and not by the first request. */
function compileOrRefuse(source: string, native: NativeText['vocabulary']): ChatTemplate {
  const refuse = (fault: string) => new Error(templateFault(fault))
  try {
    const template = compileChatTemplate(source, boundaryTexts(native))
    if (template.fault !== null) throw refuse(template.fault)
    return template
  } catch (error) {
    throw error instanceof JinjaFault ? refuse(describeFault(error)) : error
  }
}

/** Makes the tokens of a request's prompt, and the grammar that its answer must keep. */
export async function prepareText(request: EngineRequest, tools: TextTools, pause?: Pause): Promise<PreparedText> {
  const plan = tools.plans?.plan(request, tools.toolFormat) ?? planAnswer(request, tools.toolFormat)
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
  // The template alone knows the markers of a notation that was not derived.
  const isDerived = ['envelope', 'marked', 'tagged'].includes(format.notation.kind)
  return [...thinking, ...(isDerived ? stringsIn(format) : [source])]
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}
