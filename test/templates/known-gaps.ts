import { basename } from 'node:path'

/** Templates whose notation of calls or of thinking is not derived rightly yet; a template that is leaves this list. */
const names = [
  'Bielik-11B-v3.0-Instruct',
  'ByteDance-Seed-OSS',
  'Cohere2MoE',
  'GLM-4.7-Flash',
  'LFM2.5-8B-A1B',
  'MiniMax-M3',
  'NVIDIA-Nemotron-3-Nano-30B-A3B-BF16',
  'deepseek-ai-DeepSeek-V4',
  'google-gemma-2-2b-it',
  'ibm-granite-granite-3.3-2B-Instruct',
  'meetkai-functionary-medium-v3.2',
  'microsoft-Phi-3.5-mini-instruct',
  'muse-glimmer',
  'openbmb-MiniCPM5-1B',
]

/** What the runner is told of a template's tests: those of a known gap may fail, and are named as such. */
export function gapOf(file: string): { readonly todo?: string } {
  return names.includes(basename(file, '.jinja')) ? { todo: 'the notation of this template is not derived yet' } : {}
}
