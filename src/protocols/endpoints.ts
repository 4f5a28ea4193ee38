/**
 * What an API key can be confined to, by the names that settings and commands use: the routes of the wire formats, and the
 * list of models.
 *
 * The names stand here and not in the formats alone, so that a command that checks one need not load the schemas of all bodies.
 */
export const endpoints: readonly string[] = ['chat-completions', 'messages', 'count-tokens', 'models']
