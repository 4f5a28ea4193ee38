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
    'Try it:',
    `  export ODYSSEY_KEY=${key}`,
    `  curl ${address}/v1/messages -H "x-api-key: $ODYSSEY_KEY" -d '${JSON.stringify(firstRequest)}'`,
    '',
    'Set up a client; without a name this lists them all:',
    '  npx odyssey connect claude-code --write',
    '',
    'Make further keys with: npx odyssey keys create --name NAME',
  ]
}

const firstRequest = {
  model: 'clarke-1.0',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello' }],
} as const
