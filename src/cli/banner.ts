import type { ServiceStatus } from './status-file.ts'

/** What a person sees when the service has started; the key is in it only the first time. */
export function describeStart({
  address,
  models,
  firstKey,
}: {
  readonly address: string
  readonly models: ServiceStatus['models']
  readonly firstKey: string | null
}): string {
  const lines = [`Odyssey is listening at ${address}`, '']
  for (const { id, state, windowTokens, isBuiltIn } of models) {
    const note = isBuiltIn ? '  starter weights' : ''
    lines.push(`  ${id.padEnd(11)} ${state.padEnd(8)} window ${windowTokens.toLocaleString('en-US')} tokens${note}`)
  }
  if (models.some(({ isBuiltIn }) => isBuiltIn)) {
    lines.push(
      '',
      'The starter weights that come with Odyssey are tiny: they answer a few kinds of questions and say so.',
    )
    lines.push('Fetch real ones with: npx odyssey models pull (docs/models.md says which).')
  }
  if (firstKey !== null) lines.push('', ...describeKey(address, firstKey))
  return lines.join('\n')
}

function describeKey(address: string, key: string): string[] {
  return [
    'Your first API key, shown only now:',
    '',
    `  ${key}`,
    '',
    'OpenAI SDK (and whatever speaks chat completions)',
    `  export OPENAI_BASE_URL=${address}/v1`,
    `  export OPENAI_API_KEY=${key}`,
    '',
    'Anthropic SDK (and whatever speaks messages)',
    `  export ANTHROPIC_BASE_URL=${address}`,
    `  export ANTHROPIC_API_KEY=${key}`,
    '',
    'Claude Code',
    `  export ANTHROPIC_BASE_URL=${address}`,
    `  export ANTHROPIC_AUTH_TOKEN=${key}`,
    '  export ANTHROPIC_MODEL=clarke-1.0',
    '  export ANTHROPIC_DEFAULT_HAIKU_MODEL=tycho-1.0',
    '  export ANTHROPIC_DEFAULT_SONNET_MODEL=clarke-1.0',
    '  export ANTHROPIC_DEFAULT_OPUS_MODEL=hal-1.0',
    '',
    'Make further keys with: npx odyssey keys create --name NAME',
  ]
}
