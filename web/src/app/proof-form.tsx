import { useState } from 'react'
import { api } from '../api/client.ts'
import { canUsePasskeys } from '../api/passkey.ts'
import { toProblem, type Problem } from '../api/problem.ts'
import { Button } from '../kit/button.tsx'
import { TextField } from '../kit/field.tsx'
import { proveByPasskey } from './prove-by-passkey.ts'
import { Form, Refusal } from './sign-in-form.tsx'

/** By a passkey, or by the password and a code. */
export function ProofForm({ onDone }: { readonly onDone: () => void }) {
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
    <Form isPassing onSend={() => attempt(byPassword)}>
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
