import type { Random } from '../random.ts'
import { writeJson } from './hostile-texts.ts'

/** What stands in each place of a body. The names are such as both formats take. */
export type Texts = {
  readonly text: readonly string[]
  readonly name: readonly string[]
}

export const textCount = 20
export const nameCount = 3

/** The same conversation in either format, as the text of a body. */
export type Body = { readonly format: 'chat' | 'messages'; write(texts: Texts): unknown }

/** All that is random about it is drawn now, so that it can be written twice with other texts. */
export function randomBody(random: Random): Body {
  const format = random.pick(['chat', 'messages'] as const)
  const [hasTools, hasSystem, isSplit, isContinued] = [0.7, 0.7, 0.5, 0.2].map((chance) => random.chance(chance))
  return {
    format,
    write(texts) {
      const shape = { hasSystem, isSplit, isContinued }
      const conversation = format === 'chat' ? writeChat(texts, shape, random) : writeMessages(texts, shape)
      const tools = hasTools === true ? declare(texts, format) : undefined
      const body = { model: 'clarke-1.0', max_tokens: 100, ...conversation, ...(tools !== undefined && { tools }) }
      return JSON.parse(writeJson(body, random)) as unknown
    },
  }
}

type Shape = {
  readonly hasSystem: boolean | undefined
  readonly isSplit: boolean | undefined
  readonly isContinued: boolean | undefined
}

const say = (text: string | undefined) => ({ type: 'text', text: text ?? '' })

function argumentsOf({ text, name }: Texts): object {
  return { [text[0] ?? '']: text[1], [name[2] ?? '']: [{ [text[2] ?? '']: [text[3], 7, null] }], 1: { a: text[4] } }
}

function writeChat(texts: Texts, { hasSystem, isSplit, isContinued }: Shape, random: Random): object {
  const { text, name } = texts
  const call = { name: name[0], arguments: writeJson(argumentsOf(texts), random) }
  const odd = { name: name[0], arguments: `[${writeJson(text[5], random)}]` }
  return {
    user: text[6],
    stop: [text[7]],
    metadata: { note: text[8]?.slice(0, 500) },
    ...(isContinued === true && { continue_final_message: true }),
    messages: [
      ...(hasSystem === true ? [{ role: 'system', content: text[9], name: text[6] }] : []),
      { role: 'user', content: isSplit === true ? [say(text[10]), say(text[11])] : text[10], name: text[6] },
      {
        role: 'assistant',
        reasoning_content: text[12],
        content: text[13],
        tool_calls: [
          { id: text[14], type: 'function', function: call },
          { id: `${text[14]}2`, type: 'function', function: odd },
        ],
      },
      { role: 'tool', tool_call_id: text[14], content: text[15], name: name[0] },
      { role: 'tool', tool_call_id: `${text[14]}2`, content: [say(text[16])] },
      ...(isContinued === true
        ? [{ role: 'assistant', content: `${text[17]}.` }]
        : [{ role: 'user', content: text[17] }]),
    ],
  }
}

function writeMessages(texts: Texts, { hasSystem, isSplit, isContinued }: Shape): object {
  const { text, name } = texts
  const use = { type: 'tool_use', id: text[14], name: name[0], input: argumentsOf(texts) }
  const document = { type: 'document', title: text[6], context: text[5], source: { type: 'text', data: text[16] } }
  return {
    metadata: { user_id: text[8] },
    stop_sequences: [text[7]],
    thinking: { type: 'disabled' },
    ...(hasSystem === true && { system: isSplit === true ? [say(text[9]), say(text[11])] : text[9] }),
    messages: [
      { role: 'user', content: isSplit === true ? [say(text[10]), document] : text[10] },
      { role: 'assistant', content: [say(text[13]), use] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: text[14],
            content: [say(text[15]), { type: 'tool_reference', tool_name: text[12] }],
          },
          say(text[17]),
        ],
      },
      ...(isContinued === true ? [{ role: 'assistant', content: `${text[4]}.` }] : []),
    ],
  }
}

function declare({ text, name }: Texts, format: Body['format']): object[] {
  const [described, chosen, inside] = [text[18], text[19], text[17] ?? '']
  const schema = {
    type: 'object',
    properties: {
      [name[1] ?? '']: {
        type: 'string',
        description: described,
        enum: [chosen, 'x'],
        default: chosen,
        [inside]: inside,
      },
      place: {
        type: 'string',
        description: described,
        title: chosen,
        pattern: described,
        examples: [{ [inside]: chosen }],
      },
      $ref: { $ref: `#/$defs/${inside}`, description: 'Where.' },
    },
    required: [name[1], inside],
    $defs: { [inside]: { type: 'string', description: described } },
  }
  const names = { name: name[0], description: described }
  return format === 'chat'
    ? [{ type: 'function', function: { ...names, parameters: schema } }]
    : [{ ...names, input_schema: schema }]
}
