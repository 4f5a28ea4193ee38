import type { EngineRequest } from '../../../core/generation.ts'
import { createTextParser, createToolCallParser } from '../../../chat-format/tool-format/parse-tool-calls.ts'
import type { ToolFormat } from '../../../chat-format/tool-format/tool-format.ts'
import type { AnswerPlan } from '../prepared-text.ts'

/** What finds calls in an answer, and where it may hold none, the markup that it begins with; null where there is neither. */
export function createAnswerParser({ tools }: EngineRequest, plan: AnswerPlan, format: ToolFormat | null) {
  if (format === null) return null
  if (plan.readsCalls) return createToolCallParser(format, tools)
  return format.textOpen === '' ? null : createTextParser(format)
}
