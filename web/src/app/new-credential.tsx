import { useState, type ReactNode } from 'react'
import { api, type BodyOf } from '../api/client.ts'
import type { Credential } from '../api/answers.ts'
import { canUsePasskeys, createPasskey } from '../api/passkey.ts'
import { toProblem, type Problem } from '../api/problem.ts'
import { Button } from '../kit/button.tsx'
import { TextField } from '../kit/field.tsx'
import { Disclosure, Stack } from '../kit/page.tsx'
import { Form, Refusal } from './sign-in-form.tsx'

const passwordLengthMin = 12
const tooShort = `${passwordLengthMin} characters at least.`

type Props = {
  /** What a passkey is asked for with. */
  readonly options: BodyOf<'POST /api/v1/session/passkey/options'>
  /** The verb of both buttons, as "and join". */
  readonly verb: string
  /** What is still missing in the fields above. */
  readonly reason: string | null
  readonly onMade: (credential: Credential) => Promise<void>
  readonly children?: ReactNode
}

/** Makes a first way to sign in: a passkey, or folded away a password. */
export function NewCredential({ options, verb, reason, onMade, children }: Props) {
  const [password, setPassword] = useState('')
  const [problem, setProblem] = useState<Problem | null>(null)
  const [isBusy, setBusy] = useState(false)
  const attempt = async (make: () => Promise<Credential | null>) => {
    setBusy(true)
    setProblem(null)
    try {
      const credential = await make()
      if (credential !== null) await onMade(credential)
    } catch (error) {
      setProblem(toProblem(error))
    }
    setBusy(false)
  }
  const byPasskey = () => attempt(() => makePasskey(options))
  const byPassword = () => attempt(() => Promise.resolve({ kind: 'password', password }))
  const missing = reason ?? (password.length < passwordLengthMin ? tooShort : null)
  const passwordForm = (
    <Form isPassing onSend={() => (missing === null ? byPassword() : undefined)}>
      <TextField
        label="Password"
        type="password"
        autoComplete="new-password"
        value={password}
        onText={setPassword}
        hint={tooShort}
      />
      <Button type="submit" isBusy={isBusy} reason={missing}>
        Set password {verb}
      </Button>
    </Form>
  )
  return (
    <Stack>
      {problem !== null && <Refusal problem={problem} />}
      <Form isPassing onSend={() => (reason === null && canUsePasskeys() ? byPasskey() : undefined)}>
        {children}
        {canUsePasskeys() && (
          <Button type="submit" look="primary" icon="fingerprint" isBusy={isBusy} reason={reason}>
            Create passkey {verb}
          </Button>
        )}
      </Form>
      {canUsePasskeys() ? <Disclosure title="Use a password instead">{passwordForm}</Disclosure> : passwordForm}
    </Stack>
  )
}

async function makePasskey(options: Props['options']): Promise<Credential | null> {
  const { publicKey } = await api('POST /api/v1/session/passkey/options', { body: options })
  const response = await createPasskey(publicKey)
  return response === null ? null : { kind: 'passkey', response }
}
