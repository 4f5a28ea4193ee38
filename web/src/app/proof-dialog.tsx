import { useEffect, useState } from 'react'
import { answerWith, api } from '../api/client.ts'
import { toProblem, type Problem } from '../api/problem.ts'
import { askForPasskey, canUsePasskeys } from '../api/passkey.ts'
import { Button } from '../kit/button.tsx'
import { TextField } from '../kit/field.tsx'
import { Dialog } from '../kit/layers.tsx'
import { queryClient, useSession } from './session.ts'
import { Form, Refusal, SignInForm } from './sign-in-form.tsx'

type Asked = { readonly kind: 'sign-in' | 'proof'; readonly settle: (isDone: boolean) => void }

/**
 * Asks the reader to sign in again, or to show that it is them, over the page they are on.
 *
 * What they have typed there stays; the request that was refused is sent once more.
 */
export function ProofDialogs() {
  const [asked, setAsked] = useState<Asked | null>(null)
  const session = useSession()
  useEffect(() => {
    const ask = (kind: Asked['kind']) => () => new Promise<boolean>((settle) => setAsked({ kind, settle }))
    answerWith({ signInAgain: ask('sign-in'), proveAgain: ask('proof') })
  }, [])
  if (asked === null) return null
  const end = (isDone: boolean) => {
    asked.settle(isDone)
    setAsked(null)
    if (isDone) void queryClient.invalidateQueries({ queryKey: ['session'] })
  }
  if (asked.kind === 'sign-in') {
    return (
      <Dialog
        title="Sign in again"
        isOpen
        onClose={() => end(false)}
        said="Your session is over. What you have typed here is kept."
      >
        <SignInForm email={session?.user.email ?? ''} onDone={() => end(true)} />
      </Dialog>
    )
  }
  return (
    <Dialog
      title="Show that it is you"
      isOpen
      onClose={() => end(false)}
      said="This change needs a proof that is younger than ten minutes."
    >
      <ProofForm onDone={() => end(true)} />
    </Dialog>
  )
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
