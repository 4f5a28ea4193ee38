/** A parameter of a tool: what it may be called, what kind of value it takes (see tool-values.ts). */
export type ToolParameter = { readonly names: readonly string[]; readonly kind: string; readonly optional: boolean }

/** A tool before it is declared in one prompt, where its name's style and its parameters' names are chosen. */
export type ToolPlan = {
  /** The name in snake case; it decides whether the tool is held out. */
  readonly key: string
  /** Two tools of one sense never stand in one prompt: either would fit. */
  readonly sense: string
  readonly description: string
  readonly parameters: readonly ToolParameter[]
  /** Requests with `{slots}` for the parameters, by their first names; those that start with `?` are questions. */
  readonly asks: readonly string[]
}

/** `parameters` is written `city|town: city; unit?: choice celsius,fahrenheit`: names, `?` where optional, kind. */
export function tool(
  key: string,
  description: string,
  parameters: string,
  asks: readonly string[],
  sense = key,
): ToolPlan {
  const parsed = parameters.split(';').filter((part) => part.trim() !== '')
  return {
    key,
    sense,
    description,
    asks,
    parameters: parsed.map((part) => {
      const [names = '', kind = ''] = part.split(': ')
      return { names: names.trim().replace('?', '').split('|'), kind: kind.trim(), optional: names.includes('?') }
    }),
  }
}
