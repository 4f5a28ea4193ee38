import { useState } from 'react'
import { api, type BodyOf } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { modelIds } from '../../app/models.ts'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { touched } from '../../app/weights/queries.ts'
import { Recommendations } from '../../app/weights/recommendations.tsx'

type Wanted = BodyOf<'POST /api/v1/installation/weights/pull'>
type Target = (typeof modelIds)[number] | 'none'

/** Fetches weights in the background, by their source or from the list of what fits this machine. */
export function FetchDrawer({ known, onClose }: { readonly known: string; readonly onClose: () => void }) {
  const [source, setSource] = useState(known)
  const [target, setTarget] = useState<Target>('none')
  const [hash, setHash] = useState('')
  const change = useChange(
    (body: Wanted, options) => api('POST /api/v1/installation/weights/pull', { body }, options),
    { touches: touched, onDone: onClose },
  )
  const missing = source.trim() === '' ? 'A source is needed.' : null
  const send = () => {
    if (missing !== null) return
    const sha256 = hash.trim().toLowerCase()
    void change.run({
      source: source.trim(),
      model: target === 'none' ? null : target,
      sha256: sha256 === '' ? null : sha256,
    })
  }
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={missing}>
      Fetch
    </Button>
  )
  return (
    <Drawer
      title="Fetch weights"
      said="It goes on in the background, also when this page is closed, and takes up where it was after a restart."
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={send}
    >
      <ChangeProblem problem={change.problem} shown={['source', 'model', 'sha256']} />
      <TextField
        label="Source"
        isMono
        autoComplete="off"
        spellCheck={false}
        value={source}
        fault={change.faultOf('source')}
        onText={setSource}
        hint="owner/repo/file.gguf, owner/repo@revision/file.gguf, or an address that ends in .gguf"
      />
      <Select
        label="For"
        value={target}
        fault={change.faultOf('model')}
        choices={[{ value: 'none', label: 'Fetch only' }, ...modelIds.map((model) => ({ value: model, label: model }))]}
        onChoice={setTarget}
        hint="The model gets the weights as soon as they are here and have answered once."
      />
      <TextField
        label="SHA-256 (may be left out)"
        isMono
        autoComplete="off"
        spellCheck={false}
        value={hash}
        fault={change.faultOf('sha256')}
        onText={setHash}
        hint="What a hub says of its files is compared in any case."
      />
      <Recommendations verb="Choose" onChoice={setSource} />
    </Drawer>
  )
}
