import type { ReplicaFacts, ReplicaKind } from '../../../engines/remote/dialect.ts'
import { RemoteReplica } from '../../../engines/remote/remote-replica.ts'
import { TextChild } from '../../../engines/llama/text-child.ts'
import { TableReader } from '../../../engines/text/model-text.ts'
import { systemClock } from '../../../lib/clock.ts'
import { vocabularyOnly } from './vocabulary-only.ts'

export type CheckedAddress = {
  readonly address: URL
  readonly kind: ReplicaKind
  readonly key: string | null
  readonly tokenizer: string
  readonly childEnvironment: Readonly<Record<string, string>>
}

export type CheckedReplica = {
  readonly facts: ReplicaFacts
  /** In words, by what each is called. */
  readonly capabilities: readonly (readonly [name: string, value: string])[]
}

const cachedInWords = {
  start: 'told with the first token',
  end: 'told with the last token',
  never: 'not told',
} as const

/** Proves a server as a pool does with its replicas. Throws what keeps it from being one. */
export async function checkReplica({
  address,
  kind,
  key,
  tokenizer,
  childEnvironment,
}: CheckedAddress): Promise<CheckedReplica> {
  const child = new TextChild({
    settings: vocabularyOnly(tokenizer),
    environment: childEnvironment,
    clock: systemClock,
    onExit: () => {},
    onOutput: () => {},
  })
  const replica = new RemoteReplica({ kind, address, key, clock: systemClock })
  try {
    const { vocabulary } = await child.describe(new AbortController().signal)
    const facts = await replica.prove(new TableReader(vocabulary))
    const { dialect } = replica
    const isTold = !facts.missing.includes('--enable-prompt-tokens-details')
    return {
      facts,
      capabilities: [
        ['tokens in', `yes, by ${facts.route}`],
        ['grammar', 'yes'],
        ['cached tokens', isTold ? cachedInWords[dialect.cachedTokens] : cachedInWords.never],
        ['isolation', dialect.isolates ? 'by itself' : 'by slots that the pool keeps apart'],
        [
          'abort',
          dialect.abort === undefined ? 'by closing the connection' : 'by a request, or closing the connection',
        ],
      ],
    }
  } finally {
    replica.close()
    await child.close()
  }
}
