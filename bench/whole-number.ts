/** Reads a command-line option that counts something. Throws for a text that is no whole number from 1 on. */
export function wholeNumber(option: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new Error(`--${option} takes a whole number from 1 on, not ${text}.`)
}
