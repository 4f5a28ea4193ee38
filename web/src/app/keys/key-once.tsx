import { useState } from 'react'
import { Button } from '../../kit/button.tsx'
import { CopyButton } from '../../kit/copy-button.tsx'
import { Select } from '../../kit/field.tsx'
import { Row, Stack } from '../../kit/page.tsx'
import { Code } from '../../kit/content.tsx'
import { Dialog } from '../../kit/layers.tsx'
import type { Secret } from '../../lib/secret.ts'
import { clients, formatOf, keyLine, snippetsOf, type ClientId } from '../clients.ts'
import { modelChoices, type ModelId } from '../models.ts'
import { TryKey } from '../try-key.tsx'
import { ForgottenDialog } from '../secret-dialog.tsx'
import { useSecret } from '../use-secret.ts'

export type NewKey = { readonly name: string; readonly key: Secret; readonly organizationId: string }

/** It describes the dialog, so that it is read out with its title. */
const onlyTime = 'This is the only time the key is shown.'

/**
 * Shows a new key, once.
 *
 * It is in this component's memory alone, and is gone when it closes: no cache, address, title or storage has it.
 */
export function KeyOnce({ made, onClose }: { readonly made: NewKey; readonly onClose: () => void }) {
  const [isCopied, setCopied] = useState(false)
  const [isAsked, setAsked] = useState(false)
  const key = useSecret(made.key)
  const done = () => (isCopied || isAsked ? onClose() : setAsked(true))
  const foot = (
    <>
      {isAsked && !isCopied && <span role="alert">The key was not copied. It cannot be shown again.</span>}
      <Button look="primary" onClick={done}>
        {isAsked && !isCopied ? 'Close without a copy' : 'Done'}
      </Button>
    </>
  )
  const title = `“${made.name}” is ready`
  // A dialog of another kind, so that nothing of the one with the key is kept.
  if (key === '') return <ForgottenDialog title={title} onClose={onClose} />
  return (
    <Dialog title={title} said={<strong>{onlyTime}</strong>} isOpen isWide isHeld onClose={done} foot={foot}>
      <Row>
        <code style={{ overflowWrap: 'anywhere', flex: '1 1 260px' }}>{key}</code>
        <CopyButton text={key} name="Copy key" isSmall={false} onCopied={() => setCopied(true)} />
      </Row>
      <ClientSettings apiKey={key} organizationId={made.organizationId} onCopied={() => setCopied(true)} />
    </Dialog>
  )
}

function ClientSettings({
  apiKey,
  organizationId,
  onCopied,
}: {
  readonly apiKey: string
  readonly organizationId: string
  readonly onCopied: () => void
}) {
  const [client, setClient] = useState<ClientId>('curl')
  const [model, setModel] = useState<ModelId>('clarke-1.0')
  const address = window.location.origin
  return (
    <Stack>
      <Row>
        <Select
          isInline
          label="Client"
          value={client}
          choices={clients.map(({ id, name }) => ({ value: id, label: name }))}
          onChoice={setClient}
        />
        <Select isInline label="Model" value={model} choices={modelChoices} onChoice={setModel} />
      </Row>
      <Code label="The one line with the key" text={keyLine(apiKey)} onCopied={onCopied} />
      {snippetsOf(client, { address, model }).map(({ label, text }) => (
        <Code key={label} label={label} text={text} />
      ))}
      <TryKey apiKey={apiKey} format={formatOf(client)} model={model} organizationId={organizationId} />
    </Stack>
  )
}
