import type { Client } from './client.ts'
import { aider } from './aider.ts'
import { claudeCode } from './claude-code.ts'
import { cline } from './cline.ts'
import { codex } from './codex.ts'
import { continueDev } from './continue.ts'
import { curl } from './curl.ts'
import { frameworks } from './frameworks.ts'
import { litellm, openWebui } from './gateways.ts'
import { opencode } from './opencode.ts'
import { qwenCode } from './qwen-code.ts'
import { sdkClients } from './sdk-clients.ts'
import { zed } from './zed.ts'

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
