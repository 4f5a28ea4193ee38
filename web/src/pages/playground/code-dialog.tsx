import { useState } from 'react'
import { Code } from '../../kit/content.tsx'
import { Select } from '../../kit/field.tsx'
import { Dialog } from '../../kit/layers.tsx'
import { Stack } from '../../kit/page.tsx'
import { codeChoices, codeOf, type CodeClient } from './code.ts'
import type { Settings, Turn } from './conversation.ts'

type Props = { readonly settings: Settings; readonly turns: readonly Turn[]; readonly onClose: () => void }

/** The very request of the page, as each client says it. The key is a variable of the shell. */
export function CodeDialog({ settings, turns, onClose }: Props) {
  const [client, setClient] = useState<CodeClient>(settings.format === 'messages' ? 'anthropic-node' : 'openai-node')
  return (
    <Dialog title="Code" isOpen isWide onClose={onClose} said="The key is read from the variable ODYSSEY_KEY.">
      <Stack>
        <Select label="Client" value={client} choices={codeChoices} onChoice={setClient} />
        {codeOf(client, { address: window.location.origin, settings, turns }).map(({ label, text }) => (
          <Code key={label} label={label} text={text} />
        ))}
      </Stack>
    </Dialog>
  )
}
