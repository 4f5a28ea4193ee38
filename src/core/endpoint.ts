/** What an API key can be confined to, by the names that settings and commands use. */
export const endpoints = ['chat-completions', 'messages', 'count-tokens', 'models'] as const
export type Endpoint = (typeof endpoints)[number]
