import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from 'react'
import { answerWith } from '../api/client.ts'
import { Dialog } from '../kit/layers.tsx'
import { live } from './events.ts'
import { onSignedInAgain, queryClient, tellSignedInAgain, useSession } from './session.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Seldom asked for, so no page brings it along. */
const ProofForm = lazy(async () => ({ default: (await import('./proof-form.tsx')).ProofForm }))

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
      <Suspense fallback={null}>
        <ProofForm onDone={proven} />
      </Suspense>
    </Dialog>
  )
}

/** With the new session all is read anew, and the stream of changes goes on. */
function goOn(questions: Questions): void {
  questions.end('sign-in', true)
  void queryClient.invalidateQueries()
  live.resume()
}
