import { getLlama, LlamaGrammar } from 'node-llama-cpp'

/** The native parser's own view of a grammar. */
export type NativeGrammar = { accepts(text: string): boolean }

/** Whether a text matches a grammar, as llama.cpp decides it; no model is needed for that. */
export async function createNativeParser(): Promise<(grammar: string) => NativeGrammar> {
  const llama = await getLlama({ gpu: false, build: 'never', logger: () => undefined })
  return (text) => {
    const grammar = new LlamaGrammar(llama, { grammar: text })
    // Typed as internal: the package offers no other way to try a grammar without a model.
    const native: unknown = Reflect.get(grammar, '_grammar')
    if (!isNative(native)) throw new Error('The native grammar cannot be tried in this version.')
    return { accepts: (answer) => native.isTextCompatible(answer) }
  }
}

function isNative(value: unknown): value is { isTextCompatible(text: string): boolean } {
  return typeof value === 'object' && value !== null && 'isTextCompatible' in value
}
