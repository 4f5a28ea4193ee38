import type { Client, UnsupportedClient } from './client.ts'
import { aider } from './aider.ts'
import { claudeCode } from './claude-code.ts'
import { cline } from './cline.ts'
import { continueDev } from './continue.ts'
import { curl, sdkClients } from './sdk-clients.ts'
import { frameworks } from './frameworks.ts'
import { litellm, openWebui } from './gateways.ts'
import { opencode } from './opencode.ts'
import { qwenCode } from './qwen-code.ts'
import { zed } from './zed.ts'

/** People ask for it, and are told why not. */
const codex: UnsupportedClient = {
  name: 'codex',
  title: 'Codex',
  reason:
    'Codex cannot be connected. It speaks only the responses format (POST /v1/responses) and has given up chat completions; Odyssey does not offer the responses format. Agents that work are claude-code, opencode, qwen-code, cline and continue.',
}

/** In the order in which people are told of them: programs first, then what one writes programs with. */
export const allClients: readonly Client[] = [
  claudeCode,
  opencode,
  qwenCode,
  cline,
  continueDev,
  aider,
  zed,
  codex,
  litellm,
  openWebui,
  ...sdkClients,
  ...frameworks,
  curl,
]
