import { useState } from 'react'
import { api } from '../../api/client.ts'
import { toProblem, type Problem } from '../../api/problem.ts'
import { AskingFields, useAsking, wordsOfWanted } from '../../app/limits/asking.tsx'
import { Form } from '../../app/sign-in-form.tsx'
import { useAnswer } from '../../app/use-answer.ts'
import { Button } from '../../kit/button.tsx'
import { Time } from '../../kit/content.tsx'
import { Banner, Card, Disclosure, Row, Stack, StateTag } from '../../kit/page.tsx'

/** Asks the operator for higher limits; what was asked before stands below with its answer. */
export function AskForMore() {
  const [sent, setSent] = useState(0)
  return (
    <Card title="Higher limits">
      <Stack>
        <Disclosure key={sent} title="Ask for higher limits">
          <AskForm onSent={() => setSent(sent + 1)} />
        </Disclosure>
        {sent > 0 && <Banner kind="good">Asked. The answer will stand here.</Banner>}
        <Asked key={sent} />
      </Stack>
    </Card>
  )
}

function AskForm({ onSent }: { readonly onSent: () => void }) {
  const { fields, set, missing, body, clear } = useAsking()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  const send = async () => {
    if (missing !== null) return
    setBusy(true)
    setProblem(null)
    try {
      await api('POST /api/v1/portal/limit-requests', { body: body() }, { idempotencyKey: crypto.randomUUID() })
      clear()
      onSent()
    } catch (error) {
      setProblem(toProblem(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Form onSend={send}>
      {problem !== null && <Banner kind="bad">{problem.message}</Banner>}
      <AskingFields fields={fields} set={set} hasContact />
      <Row>
        <Button type="submit" look="primary" isBusy={isBusy} reason={missing}>
          Ask
        </Button>
      </Row>
    </Form>
  )
}

const words = {
  open: ['waits for an answer', 'info'],
  approved: ['approved', 'good'],
  declined: ['declined', 'off'],
} as const

function Asked() {
  const { data } = useAnswer(() => api('GET /api/v1/portal/limit-requests', {}))
  return (
    <>
      {data?.data.map(({ id, state, wanted, askedAt, answer }) => (
        <div key={id}>
          <Row>
            <StateTag mood={words[state][1]}>{words[state][0]}</StateTag>
            <span>
              {wordsOfWanted(wanted)}, asked on <Time at={askedAt} />
            </span>
          </Row>
          {answer !== null && <p>{answer}</p>}
        </div>
      ))}
    </>
  )
}
