import type { TurnBody } from './cache-hits.ts'

const mark = { cache_control: { type: 'ephemeral' } }
const rule = 'Read a file before you change it, keep what the user has written, and say what you did. '

const system = [
  { type: 'text', text: 'You are an agent that works in a folder of files.', ...mark },
  { type: 'text', text: rule.repeat(40), ...mark },
]

const tools = ['Read', 'Write', 'Bash', 'Grep'].map((name) => ({
  name,
  description: `${name} works on the files of the folder. ${rule.repeat(3)}`,
  input_schema: { type: 'object', properties: { file_path: { type: 'string' } }, required: ['file_path'] },
}))

const environment = `# Environment\nThe folder is /work. ${rule.repeat(5)}`

/**
 * The requests of a conversation as Claude Code makes them: the mark of the cache moves with the last
 * message, and a system message among the others is a list at first and a text from then on.
 */
export function agentConversation(turns: number): TurnBody[] {
  return Array.from({ length: turns }, (_, turn) => ({
    model: 'clarke-1.0',
    system,
    tools,
    thinking: { type: 'disabled' },
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Please go through the files, one after the other.' }] },
      { role: 'system', content: turn === 0 ? [{ type: 'text', text: environment }] : environment },
      ...Array.from({ length: turn }, (_each, index) => exchange(index, index === turn - 1)).flat(),
    ],
  }))
}

function exchange(index: number, isLast: boolean) {
  const id = `toolu_made${index}`
  const result = { type: 'tool_result', tool_use_id: id, content: `${index + 1}\tThe file holds ${index * 7} words.` }
  return [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: `I look at file ${index}.` },
        { type: 'tool_use', id, name: 'Read', input: { file_path: `notes/${index}.txt` } },
      ],
    },
    { role: 'user', content: [{ ...result, ...(isLast && mark) }] },
  ]
}
