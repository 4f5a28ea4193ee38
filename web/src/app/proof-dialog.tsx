import { useEffect, useState, useSyncExternalStore } from 'react'
import { answerWith, api } from '../api/client.ts'
import { toProblem, type Problem } from '../api/problem.ts'
import { askForPasskey, canUsePasskeys } from '../api/passkey.ts'
import { Button } from '../kit/button.tsx'
import { TextField } from '../kit/field.tsx'
import { Dialog } from '../kit/layers.tsx'
import { live } from './events.ts'
import { onSignedInAgain, queryClient, tellSignedInAgain, useSession } from './session.ts'
import { Form, Refusal, SignInForm } from './sign-in-form.tsx'

type Kind = 'sign-in' | 'proof'
type Asked = { readonly kind: Kind; readonly answer: Promise<boolean>; readonly settle: (isDone: boolean) => void }

/** What the reader is asked: one thing after the other, and each once, however many requests wait for the answer. */
class Questions {
  #asked: readonly Asked[] = []
  #isPutOff = false
  readonly #listeners = new Set<() => void>()

  readonly first = (): Asked | null => this.#asked[0] ?? null

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  ask(kind: Kind, { isRead = false } = {}): Promise<boolean> {
    if (isRead && this.#isPutOff) return Promise.resolve(false)
    const open = this.#asked.find((one) => one.kind === kind)
    if (open !== undefined) return open.answer
    let settle = (_: boolean) => {}
    const answer = new Promise<boolean>((resolve) => (settle = resolve))
    this.#change([...this.#asked, { kind, answer, settle }])
    return answer
  }

  end(kind: Kind, isDone: boolean): void {
    if (kind === 'sign-in') this.#isPutOff = !isDone
    this.#asked.find((one) => one.kind === kind)?.settle(isDone)
    this.#change(this.#asked.filter((one) => one.kind !== kind))
  }

  #change(asked: readonly Asked[]): void {
    this.#asked = asked
    for (const listener of this.#listeners) listener()
  }
}

/**
 * Asks the reader to sign in again, or to show that it is them, over the page they are on.
 *
 * What they have typed there stays; the requests that were refused are sent once more.
 */
export function ProofDialogs() {
  const [questions] = useState(() => new Questions())
  const asked = useSyncExternalStore(questions.subscribe, questions.first)
  const session = useSession()
  useEffect(() => {
    answerWith({
      signInAgain: (isRead) => questions.ask('sign-in', { isRead }),
      proveAgain: () => questions.ask('proof'),
    })
    return onSignedInAgain(() => goOn(questions))
  }, [questions])
  if (asked === null) return null
  if (asked.kind === 'sign-in') {
    const done = () => {
      goOn(questions)
      tellSignedInAgain()
    }
    return (
      <Dialog
        title="Sign in again"
        isOpen
        onClose={() => questions.end('sign-in', false)}
        said="Your session is over. What you have typed here is kept."
      >
        <SignInForm email={session?.user.email ?? ''} onDone={done} />
      </Dialog>
    )
  }
  const proven = () => {
    questions.end('proof', true)
    void queryClient.invalidateQueries({ queryKey: ['session'] })
  }
  return (
    <Dialog
      title="Show that it is you"
      isOpen
      onClose={() => questions.end('proof', false)}
      said="This change needs a proof that is younger than ten minutes."
    >
      <ProofForm onDone={proven} />
    </Dialog>
  )
}

/** With the new session all is read anew, and the stream of changes goes on. */
function goOn(questions: Questions): void {
  questions.end('sign-in', true)
  void queryClient.invalidateQueries()
  live.resume()
}

function ProofForm({ onDone }: { readonly onDone: () => void }) {
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [problem, setProblem] = useState<Problem | null>(null)
  const attempt = async (work: () => Promise<boolean>) => {
    setProblem(null)
    try {
      if (await work()) onDone()
    } catch (error) {
      setProblem(toProblem(error))
    }
  }
  const byPassword = async () => {
    await api('POST /api/v1/session/proof', { body: { password, ...(code !== '' && { code }) } })
    return true
  }
  return (
    <Form onSend={() => attempt(byPassword)}>
      {problem !== null && <Refusal problem={problem} />}
      {canUsePasskeys() && (
        <Button look="primary" icon="fingerprint" onClick={() => void attempt(proveByPasskey)}>
          Use a passkey
        </Button>
      )}
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        value={password}
        onText={setPassword}
      />
      <TextField
        label="Code of your authenticator, if you have one"
        inputMode="numeric"
        autoComplete="one-time-code"
        value={code}
        onText={setCode}
      />
      <Button type="submit">Continue</Button>
    </Form>
  )
}

/** Asks the reader for their passkey, which counts as used then. Resolves with whether they showed it. */
export async function proveByPasskey(): Promise<boolean> {
  const { publicKey } = await api('POST /api/v1/session/passkey/options', { body: { for: 'proof' } })
  const response = await askForPasskey(publicKey)
  if (response === null) return false
  await api('POST /api/v1/session/proof', { body: { response } })
  return true
}
