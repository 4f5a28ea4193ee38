import { formats } from './formats.ts'

/** What an API key can be confined to, by the names that settings and commands use. */
export const endpoints: readonly string[] = [
  ...formats.flatMap(({ routes }) => routes.map(({ endpoint }) => endpoint)),
  'models',
]
