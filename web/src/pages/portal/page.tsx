import { useState } from 'react'
import { api, type AnswerOf } from '../../api/client.ts'
import { toProblem, type Problem } from '../../api/problem.ts'
import { FrontPage } from '../../app/front-page.tsx'
import { Form } from '../../app/sign-in-form.tsx'
import { useAnswer } from '../../app/use-answer.ts'
import { Button } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { Banner } from '../../kit/page.tsx'
import { Portal } from './portal.tsx'

type Shown = AnswerOf<'GET /api/v1/portal'>

/** For who holds a key and has no account: the key is shown once, and then what it does can be looked at. */
export function Page() {
  const known = useAnswer(readKnown)
  const [shown, setShown] = useState<Shown | null>(null)
  const [isLeft, setLeft] = useState(false)
  if (known.isPending) return null
  const portal = isLeft ? null : (shown ?? known.data ?? null)
  if (portal === null) {
    return (
      <ShowKey
        onShown={(next) => {
          setLeft(false)
          setShown(next)
        }}
      />
    )
  }
  return (
    <Portal
      portal={portal}
      onLeave={async () => {
        // Who loads the page anew as soon as the front is there must not see the key's page again.
        // Where it is not known to be over, the page says so and stays.
        await api('DELETE /api/v1/portal/session', {}).catch(refuseUnlessOver)
        setShown(null)
        setLeft(true)
      }}
    />
  )
}

function refuseUnlessOver(error: unknown): void {
  if (toProblem(error).status !== 401) throw error
}

/** Null where no key was shown, or its half hour is over. */
async function readKnown(): Promise<Shown | null> {
  try {
    return await api('GET /api/v1/portal', {})
  } catch {
    return null
  }
}

function ShowKey({ onShown }: { readonly onShown: (shown: Shown) => void }) {
  // It is in this field alone, and gone with it.
  const [key, setKey] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  const show = async () => {
    if (key.trim() === '') return
    setBusy(true)
    setProblem(null)
    try {
      onShown(await api('POST /api/v1/portal/session', { body: { key: key.trim() } }))
    } catch (error) {
      setProblem(toProblem(error))
      setBusy(false)
    }
  }
  return (
    <FrontPage
      title="Your key"
      said="See what a key has used, what it may do, and ask for more. Nobody can change or end a key here."
    >
      {problem !== null && (
        <Banner kind="bad">
          {problem.status === 401 ? 'The key is not valid: mistyped, ended or revoked.' : problem.message}
        </Banner>
      )}
      <Form isPassing onSend={show}>
        <TextField
          label="API key"
          type="password"
          isMono
          autoComplete="off"
          spellCheck={false}
          placeholder="sk-ody-…"
          value={key}
          onText={setKey}
          hint="It is sent to this service alone, and not kept in the browser."
        />
        <Button type="submit" look="primary" isBusy={isBusy} reason={key.trim() === '' ? 'The key is needed.' : null}>
          Show
        </Button>
      </Form>
    </FrontPage>
  )
}
