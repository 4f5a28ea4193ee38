import { fileURLToPath } from 'node:url'
import type { FirstKey } from './joins/make-first-key.ts'
import type { SetupLink } from './joins/make-setup-link.ts'
import type { LoadedWeights } from '../http/api/engine-schemas.ts'

/** Not served with the guides: it names what may stand behind the models. */
const weightsPage = fileURLToPath(new URL('../../docs/models.md', import.meta.url))

/** A model as it starts; the pool that answers for it, where one does. */
type StartedModel = Pick<LoadedWeights, 'model' | 'state' | 'isBuiltIn'> & {
  /** Null for a pool of which no replica has told it yet. */
  readonly windowTokens: number | null
  readonly pool?: string
}

/** What a person sees when the service has started; of the first key only the first time. */
export function describeStart({
  address,
  models,
  firstKey,
  setup = { kind: 'done' },
  hasPages,
}: {
  readonly address: string
  readonly models: readonly StartedModel[]
  readonly firstKey: FirstKey
  readonly setup?: SetupLink
  /** Whether the service has pages for people, the documentation among them. */
  readonly hasPages: boolean
}): string {
  const lines = [`Odyssey is listening at ${address}`, ...(hasPages ? [`Documentation: ${address}/docs`] : []), '']
  for (const { model, state, windowTokens, isBuiltIn, pool } of models) {
    const note = isBuiltIn ? '  starter weights' : pool === undefined ? '' : `  pool ${pool}`
    const window = windowTokens === null ? '' : ` window ${windowTokens.toLocaleString('en-US')} tokens`
    lines.push(`  ${model.padEnd(11)} ${state.padEnd(8)}${window}${note}`)
  }
  if (models.some(({ isBuiltIn }) => isBuiltIn)) {
    lines.push(
      '',
      'The starter weights that come with Odyssey are tiny: they answer a few kinds of questions and say so.',
    )
    lines.push(`Fetch real ones with: npx odyssey models pull (${weightsPage} says which).`)
  }
  lines.push(...describeSetup(setup))
  const key = describeKey(address, firstKey)
  return (key.length > 0 ? [...lines, '', ...key] : lines).join('\n')
}

function describeSetup(setup: SetupLink): string[] {
  switch (setup.kind) {
    case 'done':
      return []
    case 'shown':
      return ['', `Set up in your browser: ${setup.link}`]
    case 'withheld':
      return ['', 'Nobody owns this service yet. For a link to set it up in your browser: npx odyssey owners link']
  }
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
