import { useState, type FormEvent } from 'react'
import { api } from '../api/client.ts'
import type { SignedIn } from '../api/answers.ts'
import { toProblem, type Problem } from '../api/problem.ts'
import { askForPasskey, canUsePasskeys } from '../api/passkey.ts'
import { Button } from '../kit/button.tsx'
import { TextField } from '../kit/field.tsx'
import { Banner, Stack } from '../kit/page.tsx'
import { say } from '../lib/voice.ts'

type Step = 'start' | 'totp' | 'recovery'

/** Signs in by passkey, or by password and, where there is one, a code. `onDone` follows a success. */
export function SignInForm({ email: known = '', onDone }: { readonly email?: string; readonly onDone: () => void }) {
  const [step, setStep] = useState<Step>('start')
  const [problem, setProblem] = useState<Problem | null>(null)
  const [isBusy, setBusy] = useState(false)
  const attempt = async (work: () => Promise<SignedIn | null>) => {
    setBusy(true)
    setProblem(null)
    try {
      const answer = await work()
      if (answer?.state === 'signed-in') onDone()
      else if (answer?.state === 'totp') {
        setStep('totp')
        // The field has the focus, which not every screen reader tells where another one has given way to it.
        say('Code of your authenticator')
      }
    } catch (error) {
      setProblem(toProblem(error))
    }
    setBusy(false)
  }
  return (
    <Stack>
      {problem !== null && <Refusal problem={problem} />}
      {step === 'start' && <StartStep known={known} isBusy={isBusy} attempt={attempt} />}
      {step === 'totp' && <CodeStep isBusy={isBusy} attempt={attempt} />}
      {step === 'recovery' && <RecoveryStep known={known} isBusy={isBusy} attempt={attempt} />}
      <Button look="quiet" isSmall onClick={() => setStep(step === 'start' ? 'recovery' : 'start')}>
        {step === 'start' ? 'Use a recovery code' : 'Start over'}
      </Button>
    </Stack>
  )
}

type Attempt = (work: () => Promise<SignedIn | null>) => Promise<void>
type StepProps = { readonly isBusy: boolean; readonly attempt: Attempt }

function StartStep({ known, isBusy, attempt }: StepProps & { readonly known: string }) {
  const [email, setEmail] = useState(known)
  const [password, setPassword] = useState('')
  const byPassword = () => attempt(() => api('POST /api/v1/session/password', { body: { email, password } }))
  return (
    <Stack>
      {canUsePasskeys() && (
        <Button look="primary" icon="fingerprint" isBusy={isBusy} onClick={() => void attempt(signInByPasskey)}>
          Sign in with a passkey
        </Button>
      )}
      <Form isPassing onSend={byPassword}>
        <TextField
          label="Email"
          type="email"
          autoComplete="username webauthn"
          required
          value={email}
          onText={setEmail}
        />
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onText={setPassword}
        />
        <Button type="submit" isBusy={isBusy} {...(!canUsePasskeys() && { look: 'primary' as const })}>
          Continue
        </Button>
      </Form>
    </Stack>
  )
}

/** Whoever has lost the authenticator has recovery codes in its place. */
function CodeStep({ isBusy, attempt }: StepProps) {
  const [isRecovery, setRecovery] = useState(false)
  const [code, setCode] = useState('')
  const body = isRecovery ? { recoveryCode: code.trim() } : { code: code.replaceAll(' ', '') }
  const change = () => {
    setRecovery(!isRecovery)
    setCode('')
  }
  return (
    <Form isPassing onSend={() => attempt(() => api('POST /api/v1/session/totp', { body }))}>
      {isRecovery ? (
        <RecoveryCodeField code={code} onCode={setCode} isFirst />
      ) : (
        <TextField
          label="Code of your authenticator"
          inputMode="numeric"
          autoComplete="one-time-code"
          autoFocus
          required
          value={code}
          onText={setCode}
        />
      )}
      <Button type="submit" look="primary" isBusy={isBusy}>
        Continue
      </Button>
      <Button look="quiet" isSmall onClick={change}>
        {isRecovery ? 'Use the authenticator' : 'Use a recovery code'}
      </Button>
    </Form>
  )
}

type RecoveryCodeProps = {
  readonly code: string
  readonly onCode: (code: string) => void
  readonly isFirst?: boolean
}

function RecoveryCodeField({ code, onCode, isFirst = false }: RecoveryCodeProps) {
  return (
    <TextField
      label="Recovery code"
      isMono
      autoComplete="off"
      autoFocus={isFirst}
      required
      value={code}
      onText={onCode}
      hint="Each code works once."
    />
  )
}

function RecoveryStep({ known, isBusy, attempt }: StepProps & { readonly known: string }) {
  const [email, setEmail] = useState(known)
  const [recoveryCode, setCode] = useState('')
  return (
    <Form
      isPassing
      onSend={() =>
        attempt(() => api('POST /api/v1/session/recovery', { body: { email, recoveryCode: recoveryCode.trim() } }))
      }
    >
      <TextField label="Email" type="email" autoComplete="username" required value={email} onText={setEmail} />
      <RecoveryCodeField code={recoveryCode} onCode={setCode} />
      <Button type="submit" look="primary" isBusy={isBusy}>
        Continue
      </Button>
    </Form>
  )
}

type FormProps = {
  readonly onSend: () => unknown
  /**
   * What is typed into it is worth nothing once it is left, so nobody is asked. The browser says what is missing, since it
   * knows what it has filled in itself before a page does.
   */
  readonly isPassing?: boolean
  readonly children: React.ReactNode
}

export function Form({ onSend, isPassing = false, children }: FormProps) {
  const send = (event: FormEvent) => {
    event.preventDefault()
    void onSend()
  }
  return (
    <form noValidate={!isPassing} data-kept={!isPassing || undefined} onSubmit={send}>
      <Stack>{children}</Stack>
    </form>
  )
}

async function signInByPasskey(): Promise<SignedIn | null> {
  const { publicKey } = await api('POST /api/v1/session/passkey/options', { body: { for: 'sign-in' } })
  const response = await askForPasskey(publicKey)
  return response === null ? null : api('POST /api/v1/session/passkey', { body: { response } })
}

/** One text for every refusal: which part was wrong is nobody's business. */
export function Refusal({ problem }: { readonly problem: Problem }) {
  const wait =
    problem.status === 429 && problem.retryAfterSeconds !== null ? ` Try again in ${problem.retryAfterSeconds} s.` : ''
  return (
    <Banner kind="bad">
      {problem.message}
      {wait} {problem.requestId !== null && <code>{problem.requestId}</code>}
    </Banner>
  )
}
