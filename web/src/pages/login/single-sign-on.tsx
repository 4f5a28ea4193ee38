import { useState, type FormEvent } from 'react'
import { api } from '../../api/client.ts'
import { toProblem } from '../../api/problem.ts'
import { Button } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { Banner, Stack } from '../../kit/page.tsx'

/** Leads to the identity provider of somebody's organization, which is found by their address. */
export function SingleSignOn({ next }: { readonly next: string }) {
  const [isOpen, setOpen] = useState(false)
  const [email, setEmail] = useState('')
  const [said, setSaid] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const go = async () => {
    setBusy(true)
    setSaid(null)
    try {
      const { location } = await api('POST /api/v1/session/sso', { body: { email } })
      if (location === null) setSaid('No organization signs in by a provider with this address.')
      else window.location.assign(`${location}?next=${encodeURIComponent(next)}`)
    } catch (error) {
      setSaid(toProblem(error).message)
    }
    setBusy(false)
  }
  const send = (event: FormEvent) => {
    event.preventDefault()
    void go()
  }
  if (!isOpen) return <Button onClick={() => setOpen(true)}>Continue with single sign-on</Button>
  return (
    <form onSubmit={send}>
      <Stack>
        {said !== null && <Banner kind="warn">{said}</Banner>}
        <TextField label="Work email" type="email" autoComplete="email" required value={email} onText={setEmail} />
        <Button type="submit" isBusy={isBusy}>
          Continue with single sign-on
        </Button>
      </Stack>
    </form>
  )
}
