import { useState } from 'react'
import { addressOf } from '../../api/client.ts'
import type { Operation } from '../../app/docs/openapi.ts'
import { preferences } from '../../app/preferences.ts'
import { Button } from '../../kit/button.tsx'
import { Code } from '../../kit/content.tsx'
import { TextField } from '../../kit/field.tsx'
import { Row, Stack } from '../../kit/page.tsx'

type Shown = { readonly status: number; readonly text: string }
/** Longer answers are for programs. */
const charactersMax = 20_000

/** Asks a reading operation by the reader's own session. */
export function TryOperation({ operation: { path, parameters = [] } }: { readonly operation: Operation }) {
  const needed = parameters.filter(({ in: place, required }) => place === 'path' || required === true)
  const known: Readonly<Record<string, string>> = { organizationId: preferences.current().organizationId ?? '' }
  const [values, setValues] = useState<Readonly<Record<string, string>>>(known)
  const [shown, setShown] = useState<Shown | null>(null)
  const [isBusy, setBusy] = useState(false)
  const missing = needed.find(({ name }) => (values[name] ?? '') === '')?.name
  const run = async () => {
    setBusy(true)
    try {
      const query = Object.fromEntries(
        parameters.filter((one) => one.in === 'query').map(({ name }) => [name, values[name]]),
      )
      setShown(await ask(addressOf(path, values, query)))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Stack>
      <Row>
        {parameters.map(({ name }) => (
          <TextField
            key={name}
            label={name}
            isMono
            autoComplete="off"
            value={values[name] ?? ''}
            onText={(typed) => setValues({ ...values, [name]: typed })}
          />
        ))}
        <Button
          icon="play"
          isBusy={isBusy}
          reason={missing === undefined ? null : `${missing} is needed.`}
          onClick={() => void run()}
        >
          Run
        </Button>
      </Row>
      {shown !== null && (
        <div role="status">
          {shown.status === 401 && <p>Sign in first: it is asked by your own session.</p>}
          <Code label={`Answer ${shown.status === 0 ? 'did not come' : shown.status}`} text={shown.text} wraps />
        </div>
      )}
    </Stack>
  )
}

async function ask(address: string): Promise<Shown> {
  try {
    const response = await fetch(address, { credentials: 'same-origin', headers: { accept: 'application/json' } })
    return { status: response.status, text: readable(await response.text()) }
  } catch {
    return { status: 0, text: 'Odyssey does not answer.' }
  }
}

function readable(text: string): string {
  const laidOut = layOut(text)
  return laidOut.length <= charactersMax ? laidOut : `${laidOut.slice(0, charactersMax)}\n… and more`
}

function layOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
