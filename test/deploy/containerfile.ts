/** One instruction of a container file, its continued lines joined. */
export type Instruction = { readonly name: string; readonly words: readonly string[]; readonly text: string }

/** What stands between one FROM and the next. */
export type Stage = {
  readonly name: string | null
  readonly image: string
  readonly instructions: readonly Instruction[]
}

/** Reads a container file's stages, and the ARGs before the first. Knows comments and continued lines, and no here-documents. */
export function readContainerfile(text: string): { readonly args: readonly Instruction[]; readonly stages: Stage[] } {
  const lines = text.split('\n').filter((line) => !/^\s*(#|$)/.test(line))
  const instructions = lines.join('\n').replaceAll('\\\n', ' ').split('\n').map(readInstruction)
  const first = instructions.findIndex(({ name }) => name === 'FROM')
  const stages: { name: string | null; image: string; instructions: Instruction[] }[] = []
  for (const instruction of instructions.slice(first)) {
    const { name, words } = instruction
    if (name === 'FROM') stages.push({ name: words[2] ?? null, image: words[0] ?? '', instructions: [] })
    else stages.at(-1)?.instructions.push(instruction)
  }
  return { args: instructions.slice(0, first), stages }
}

function readInstruction(line: string): Instruction {
  const [, name = '', text = ''] = /^\s*(\S+)\s+(.*)$/.exec(line) ?? []
  return { name: name.toUpperCase(), text: text.trim(), words: text.trim().split(/\s+/) }
}
