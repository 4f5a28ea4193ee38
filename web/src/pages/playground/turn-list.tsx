import { Card, Stack } from '../../kit/page.tsx'
import type { Turn } from './conversation.ts'
import styles from './playground.module.css'

const names = { user: 'User', assistant: 'Assistant', results: 'Tool results' } as const

/** The conversation so far. What a model wrote is text, never markup. */
export function TurnList({ turns }: { readonly turns: readonly Turn[] }) {
  return (
    <Stack>
      {turns.map((turn, index) => (
        <Card key={index} title={`${index + 1} · ${names[turn.kind]}`}>
          <div className={styles.text}>{textOf(turn)}</div>
        </Card>
      ))}
    </Stack>
  )
}

function textOf(turn: Turn): string {
  switch (turn.kind) {
    case 'user':
      return turn.text
    case 'assistant':
      return [turn.text, ...turn.calls.map(({ name, arguments: given }) => `${name}(${given})`)]
        .filter((part) => part !== '')
        .join('\n')
    case 'results':
      return turn.results.map(({ text }) => text).join('\n')
  }
}
