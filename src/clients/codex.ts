import type { UnsupportedClient } from './client.ts'

export const codex: UnsupportedClient = {
  name: 'codex',
  title: 'Codex',
  reason:
    'Codex cannot be connected. It speaks only the responses format (POST /v1/responses) and has given up chat completions; Odyssey does not offer the responses format. Agents that work are claude-code, opencode, qwen-code, cline and continue.',
}
