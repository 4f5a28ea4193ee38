import type { FirstKey } from './joins/make-first-key.ts'
import type { ServiceStatus } from './status/status-file.ts'

/** What a person sees when the service has started; of the first key only the first time. */
export function describeStart({
  address,
  models,
  firstKey,
}: {
  readonly address: string
  readonly models: ServiceStatus['models']
  readonly firstKey: FirstKey
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
  const key = describeKey(address, firstKey)
  return (key.length > 0 ? [...lines, '', ...key] : lines).join('\n')
}

function describeKey(address: string, firstKey: FirstKey): string[] {
  switch (firstKey.kind) {
    case 'none':
      return []
    case 'shown':
      return [
        'Your first API key, shown only now:',
        '',
        `  ${firstKey.key}`,
        ...describeFirstSteps(address, firstKey.key),
      ]
    case 'written':
      return [
        `Your first API key is in ${firstKey.path}, which only this user can read.`,
        'It is not printed here, since this is no terminal. Move the file away when you have it.',
        ...describeFirstSteps(address, `"$(cat ${quoteForShell(firstKey.path)})"`),
      ]
    case 'in-the-way':
      return [
        `No first API key was made: ${firstKey.path} is there already and was left as it is.`,
        'Make one with: npx odyssey keys create --name NAME',
      ]
    case 'left':
      return [`The first API key is still in ${firstKey.path}. Move the file away when you have it.`]
  }
}

function describeFirstSteps(address: string, key: string): string[] {
  return [
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

function quoteForShell(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

const firstRequest = {
  model: 'clarke-1.0',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello' }],
} as const
