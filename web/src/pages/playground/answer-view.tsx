import { useState } from 'react'
import { pagePath } from '../../app/paths.ts'
import { formatCount, formatDuration, formatShare } from '../../format/figures.ts'
import { Button } from '../../kit/button.tsx'
import { Code } from '../../kit/content.tsx'
import { Checkbox, TextArea } from '../../kit/field.tsx'
import { Link } from '../../kit/link.tsx'
import { Bar } from '../../kit/figures.tsx'
import { Banner, Card, Disclosure, Row, Stack, StateTag } from '../../kit/page.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { checkAnswer, type Schema } from './check-schema.ts'
import type { Call, Result } from './conversation.ts'
import { ratePerSecond } from './measures.ts'
import { schemaOf } from './read-body.ts'
import type { Run } from './run.ts'
import styles from './playground.module.css'

type View = 'answer' | 'request' | 'response'
const views = [
  { value: 'answer', label: 'Answer' },
  { value: 'request', label: 'Request' },
  { value: 'response', label: 'Response' },
] as const

type Props = {
  readonly name: string
  readonly run: Run
  readonly organizationId: string
  /** Why results of tools cannot be sent; null where they can. */
  readonly reason: string | null
  readonly onResults: (results: readonly Result[]) => void
  /** Takes this one of two answers for the conversation. */
  readonly onChoice?: () => void
}

export function AnswerView({ name, run, organizationId, reason, onResults, onChoice }: Props) {
  // What it was asked with: the field may have another one by now.
  const schema = schemaOf(run.body) as Schema | undefined
  const [view, setView] = useState<View>('answer')
  return (
    <Card
      title={run.isOver ? name : `${name}, answering…`}
      actions={<Segments name={`View of ${name}`} tabs={views} chosen={view} onChoice={setView} />}
    >
      <Stack>
        {run.fault !== null && <Banner kind="bad">{run.fault}</Banner>}
        {view === 'answer' && <Content run={run} reason={reason} onResults={onResults} />}
        {view === 'request' && <Code label="Request, as sent" wraps text={JSON.stringify(run.body, null, 2)} />}
        {view === 'response' && (
          <Code
            label="Events, as they came"
            text={run.events
              .map(({ atMs, name: kind, text }) => `${Math.round(atMs)} ms  ${kind ?? ''} ${text}`)
              .join('\n')}
          />
        )}
        {run.isOver && schema !== undefined && run.text !== '' && <Verdict text={run.text} schema={schema} />}
        <Figures run={run} organizationId={organizationId} />
        {onChoice !== undefined && run.isOver && run.fault === null && (
          <Row>
            <Button isSmall onClick={onChoice}>
              Go on with this answer
            </Button>
          </Row>
        )}
      </Stack>
    </Card>
  )
}

function Content({ run, reason, onResults }: Pick<Props, 'run' | 'reason' | 'onResults'>) {
  return (
    <>
      {run.thinking !== '' && (
        <Disclosure title={run.isOver ? 'Thinking' : 'Thinking…'}>
          <p className={styles.thinking}>{run.thinking}</p>
        </Disclosure>
      )}
      <div className={styles.text} aria-live="off">
        {run.text}
      </div>
      {run.calls.length > 0 && <Calls calls={run.calls} isOver={run.isOver} reason={reason} onResults={onResults} />}
    </>
  )
}

function Verdict({ text, schema }: { readonly text: string; readonly schema: Schema }) {
  const fault = checkAnswer(text, schema)
  return fault === null ? (
    <StateTag mood="good">Keeps the schema</StateTag>
  ) : (
    <StateTag mood="bad">{`Breaks the schema: ${fault}`}</StateTag>
  )
}

type CallsProps = Pick<Props, 'reason' | 'onResults'> & {
  readonly calls: readonly Call[]
  readonly isOver: boolean
}

/** What the model wants to be called, with a form for what comes of it. */
function Calls({ calls, isOver, reason, onResults }: CallsProps) {
  const [results, setResults] = useState<Readonly<Record<string, Omit<Result, 'id'>>>>({})
  const resultOf = (id: string) => results[id] ?? { text: '', isError: false }
  const change = (id: string, changes: Partial<Result>) =>
    setResults({ ...results, [id]: { ...resultOf(id), ...changes } })
  return (
    <>
      {calls.map(({ id, name, arguments: given }) => (
        <div className={styles.call} key={id}>
          <strong>{name}</strong>
          <code>{given}</code>
          {isOver && (
            <>
              <TextArea
                label={`Result of ${name}`}
                isMono
                value={resultOf(id).text}
                onText={(text) => change(id, { text })}
              />
              <Checkbox label="It failed" isOn={resultOf(id).isError} onChange={(isError) => change(id, { isError })} />
            </>
          )}
        </div>
      ))}
      {isOver && (
        <Row>
          <Button reason={reason} onClick={() => onResults(calls.map(({ id }) => ({ id, ...resultOf(id) })))}>
            {calls.length === 1 ? 'Send result' : 'Send results'}
          </Button>
        </Row>
      )}
    </>
  )
}

function Figures({ run, organizationId }: { readonly run: Run; readonly organizationId: string }) {
  const { requestId, status, isOver } = run
  return (
    <div className={styles.figures}>
      <Cached run={run} />
      <p role="status">
        {figuresOf(run).join(' · ')}{' '}
        {isOver && status === 200 && requestId !== null && (
          <Link href={pagePath('request', { organizationId, requestId })}>Open request</Link>
        )}
      </p>
    </div>
  )
}

function figuresOf(run: Run): readonly string[] {
  const { inputTokens, outputTokens, firstMs, totalMs, end } = run
  const rate = ratePerSecond(run)
  const parts = [
    inputTokens === null ? null : `${formatCount(inputTokens)} in`,
    outputTokens === null ? null : `${formatCount(outputTokens)} out`,
    firstMs === null ? null : `${formatDuration(firstMs)} to the first token`,
    rate === null ? null : `${rate.toFixed(0)} tokens a second`,
    totalMs === null ? null : `${formatDuration(totalMs)} in all`,
    end,
  ]
  return parts.filter((part) => part !== null)
}

function Cached({ run: { inputTokens, cachedTokens } }: { readonly run: Run }) {
  if (inputTokens === null || inputTokens === 0) return null
  const cached = cachedTokens ?? 0
  const share = cached / inputTokens
  return (
    <p>
      {formatCount(cached)} of {formatCount(inputTokens)} tokens from the cache, {formatShare(share)}
      <Bar share={0} second={share} />
    </p>
  )
}
