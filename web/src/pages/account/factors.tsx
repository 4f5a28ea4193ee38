import { useState } from 'react'
import { api } from '../../api/client.ts'
import { toProblem } from '../../api/problem.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { Confirm } from '../../app/confirm.tsx'
import { ForgottenDialog, SecretDialog } from '../../app/secret-dialog.tsx'
import { useChange } from '../../app/use-change.ts'
import { useSecret } from '../../app/use-secret.ts'
import { Button } from '../../kit/button.tsx'
import { CopyButton } from '../../kit/copy-button.tsx'
import { Code, Name, Time } from '../../kit/content.tsx'
import { TextField } from '../../kit/field.tsx'
import { Dialog } from '../../kit/layers.tsx'
import { Badge, Banner, Card, KeyValue, Row, Stack } from '../../kit/page.tsx'
import { Table } from '../../kit/table.tsx'
import { canUsePasskeys, createPasskey } from '../../api/passkey.ts'
import { Secret } from '../../lib/secret.ts'
import type { Me } from './profile.tsx'

type Passkey = Me['passkeys'][number]
const touches = [['me']] as const

/** The ways to sign in. Each change needs a fresh proof, which the service asks for by itself. */
export function FactorsCard({ me }: { readonly me: Me }) {
  const [open, setOpen] = useState<'passkey' | 'password' | 'totp' | 'codes' | null>(null)
  const close = () => setOpen(null)
  return (
    <Card title="Signing in">
      <Stack>
        <Passkeys me={me} />
        <KeyValue
          rows={[
            ['Password', me.hasPassword ? 'set' : 'none'],
            ['Authenticator', me.hasTotp ? 'a code is asked for after the password' : 'none'],
            ['Recovery codes', me.recoveryCodesLeft === 0 ? 'none' : `${me.recoveryCodesLeft} left`],
          ]}
        />
        <Row>
          <Button
            icon="fingerprint"
            reason={canUsePasskeys() ? null : 'This browser has no passkeys here: they need HTTPS or localhost.'}
            onClick={() => setOpen('passkey')}
          >
            Add passkey
          </Button>
          <Button onClick={() => setOpen('password')}>{me.hasPassword ? 'Change password' : 'Set password'}</Button>
          <Button
            reason={me.hasPassword ? null : 'It goes with a password, and there is none.'}
            onClick={() => setOpen('totp')}
          >
            Set up authenticator
          </Button>
          <Button onClick={() => setOpen('codes')}>New recovery codes</Button>
        </Row>
      </Stack>
      {open === 'passkey' && <PasskeyDialog onClose={close} />}
      {open === 'password' && <PasswordDialog onClose={close} />}
      {open === 'totp' && <TotpDialog onClose={close} />}
      {open === 'codes' && <CodesDialog onClose={close} />}
    </Card>
  )
}

function Passkeys({ me: { passkeys, hasPassword } }: { readonly me: Me }) {
  const [removed, setRemoved] = useState<Passkey | null>(null)
  const change = useChange(
    (passkeyId: string) => api('DELETE /api/v1/me/passkeys/{passkeyId}', { params: { passkeyId } }),
    { touches, onDone: () => setRemoved(null) },
  )
  const reason = passkeys.length === 1 && !hasPassword ? 'The last way to sign in cannot be removed.' : null
  if (passkeys.length === 0)
    return <p>No passkeys yet. A passkey is easier than a password, and cannot be guessed or given away.</p>
  return (
    <>
      <Table
        name="Passkeys"
        items={passkeys}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'name',
            head: 'Passkey',
            cell: ({ name, isBackedUp }) => (
              <>
                <Name>{name}</Name> {isBackedUp && <Badge>synced</Badge>}
              </>
            ),
          },
          { key: 'created', head: 'Added', cell: ({ createdAt }) => <Time at={createdAt} isAgo /> },
          {
            key: 'used',
            head: 'Last used',
            cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : <Time at={lastUsedAt} isAgo />),
          },
          {
            key: 'actions',
            head: '',
            isRight: true,
            phone: 'side',
            cell: (passkey) => (
              <Button isSmall reason={reason} onClick={() => setRemoved(passkey)}>
                Remove…
              </Button>
            ),
          },
        ]}
      />
      {removed !== null && (
        <Confirm
          title={`Remove “${removed.name}”`}
          verb="Remove passkey"
          change={change}
          onClose={() => setRemoved(null)}
          onConfirm={() => void change.run(removed.id)}
        >
          It does not sign you in any more. Remove it from the device as well.
        </Confirm>
      )}
    </>
  )
}

type DialogProps = { readonly onClose: () => void }

function PasskeyDialog({ onClose }: DialogProps) {
  const [name, setName] = useState('')
  const change = useChange(
    async (given: string) => {
      const { publicKey } = await api('POST /api/v1/session/passkey/options', { body: { for: 'add' } })
      const response = await createPasskey(publicKey)
      if (response === null) throw toProblem(new Error('No passkey was made.'))
      return api('POST /api/v1/me/passkeys', { body: { name: given, response } })
    },
    { touches, onDone: onClose },
  )
  const reason = name.trim() === '' ? 'A name is needed.' : null
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
      Add passkey
    </Button>
  )
  return (
    <Dialog
      title="Add passkey"
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={() => (reason === null ? void change.run(name.trim()) : undefined)}
    >
      <ChangeProblem problem={change.problem} />
      <TextField
        label="Name"
        autoComplete="off"
        placeholder="laptop"
        value={name}
        onText={setName}
        hint="Where the passkey is kept."
      />
    </Dialog>
  )
}

const passwordLengthMin = 12

function PasswordDialog({ onClose }: DialogProps) {
  const [password, setPassword] = useState('')
  const change = useChange((body: { readonly password: string }) => api('PUT /api/v1/me/password', { body }), {
    touches,
    onDone: onClose,
  })
  const reason = password.length < passwordLengthMin ? `${passwordLengthMin} characters at least.` : null
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
      Save password
    </Button>
  )
  return (
    <Dialog
      title="Password"
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={() => (reason === null ? void change.run({ password }) : undefined)}
    >
      <ChangeProblem problem={change.problem} shown={['password']} />
      <TextField
        label="New password"
        type="password"
        autoComplete="new-password"
        value={password}
        fault={change.faultOf('password')}
        onText={setPassword}
        hint={`${passwordLengthMin} characters at least.`}
      />
    </Dialog>
  )
}

const saidOfTotp = 'An app makes a new code every 30 seconds, which is asked for after the password.'

function TotpDialog({ onClose }: DialogProps) {
  const [address, setAddress] = useState<Secret | null>(null)
  const begin = useChange((_: null) => api('POST /api/v1/me/totp', {}), {
    touches: [],
    onDone: ({ uri }) => setAddress(new Secret(uri)),
  })
  if (address !== null) return <TotpCode address={address} onClose={onClose} />
  const run = () => void begin.run(null)
  const foot = (
    <Button look="primary" isBusy={begin.isBusy} onClick={run}>
      Begin
    </Button>
  )
  return (
    <Dialog title="Authenticator" isOpen onClose={onClose} foot={foot} onSubmit={run} said={saidOfTotp}>
      <ChangeProblem problem={begin.problem} />
    </Dialog>
  )
}

/** The address holds the secret itself, so both are shown and forgotten together. */
function TotpCode({ address, onClose }: DialogProps & { readonly address: Secret }) {
  const [code, setCode] = useState('')
  const uri = useSecret(address)
  const confirm = useChange((body: { readonly code: string }) => api('POST /api/v1/me/totp/confirm', { body }), {
    touches,
    onDone: onClose,
  })
  if (uri === '') return <ForgottenDialog title="Authenticator" onClose={onClose} />
  const foot = (
    <Button type="submit" look="primary" isBusy={confirm.isBusy}>
      Confirm
    </Button>
  )
  const send = () => void confirm.run({ code: code.replaceAll(' ', '') })
  return (
    <Dialog title="Authenticator" isOpen onClose={onClose} foot={foot} onSubmit={send} said={saidOfTotp}>
      <ChangeProblem problem={confirm.problem} />
      <Code label="Type this into the app" wraps text={new URL(uri).searchParams.get('secret') ?? ''} />
      <Code label="Or open this address with it" wraps text={uri} />
      <TextField label="Its code now" inputMode="numeric" autoComplete="one-time-code" value={code} onText={setCode} />
    </Dialog>
  )
}

function CodesDialog({ onClose }: DialogProps) {
  const [codes, setCodes] = useState<Secret | null>(null)
  const change = useChange((_: null) => api('POST /api/v1/me/recovery-codes', {}), {
    touches,
    onDone: (made) => setCodes(new Secret(made.codes.join('\n'))),
  })
  if (codes === null) {
    return (
      <Confirm
        title="New recovery codes"
        verb="Make codes"
        isBad={false}
        change={change}
        onClose={onClose}
        onConfirm={() => void change.run(null)}
      >
        Ten codes that sign you in once each, for when nothing else does. Those from before stop working.
      </Confirm>
    )
  }
  return (
    <SecretDialog
      title="Recovery codes"
      secret={codes}
      onClose={onClose}
      actions={(text) => <CopyButton text={text} isSmall={false} name="Copy all" />}
    >
      {(text) => (
        <>
          <Banner kind="warn">They are shown only now. Keep them where you find them without this device.</Banner>
          <pre>{text}</pre>
        </>
      )}
    </SecretDialog>
  )
}
