import { chatCompletionsFormat } from './chat-completions/chat-completions-format.ts'
import type { Format, FormatSettings, OpenFormat } from './format.ts'
import { messagesFormat } from './messages/messages-format.ts'
import { compileBody } from './parse-body.ts'

/** The wire formats on offer. Another one is a folder beside theirs and a line here. */
export const formats: readonly Format[] = [chatCompletionsFormat, messagesFormat]

export function openFormats(settings: FormatSettings): readonly OpenFormat[] {
  for (const { body } of formats.flatMap(({ routes }) => routes)) compileBody(body)
  return formats.map((format) => ({ ...format, protocol: format.open(settings) }))
}
