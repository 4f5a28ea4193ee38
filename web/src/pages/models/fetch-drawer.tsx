import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api, type BodyOf } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { modelIds } from '../../app/models.ts'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { formatBytes } from '../../format/figures.ts'
import { Button } from '../../kit/button.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { StateTag, type Mood } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { recommendedQuery, touched, type Recommended } from './queries.ts'

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
      <Recommendations onChoice={setSource} />
    </Drawer>
  )
}

const fits: Readonly<Record<Recommended['fit'], readonly [string, Mood]>> = {
  beside: ['fits', 'good'],
  alone: ['fits after a restart', 'warn'],
  no: ['too large', 'off'],
}

function Recommendations({ onChoice }: { readonly onChoice: (source: string) => void }) {
  const query = useQuery(recommendedQuery)
  const columns: readonly Column<Recommended>[] = [
    { key: 'name', head: 'Weights', cell: ({ name }) => name },
    { key: 'size', head: 'Size', isRight: true, cell: ({ bytes }) => formatBytes(bytes) },
    { key: 'fit', head: 'This machine', cell: ({ fit }) => <StateTag mood={fits[fit][1]}>{fits[fit][0]}</StateTag> },
    {
      key: 'choose',
      head: '',
      phone: 'side',
      cell: ({ name, source, fit }) => (
        <Button
          isSmall
          aria-label={`Choose ${name}`}
          reason={fit === 'no' ? 'This machine’s memory does not hold them.' : null}
          onClick={() => onChoice(source)}
        >
          Choose
        </Button>
      ),
    },
  ]
  return (
    <Loaded query={query} what="The list of weights" rows={3}>
      {(recommended) => (
        <>
          <Table name="Weights to begin with" columns={columns} items={recommended} keyOf={({ source }) => source} />
          <p>
            Sizes are those of the files. They were not compared with each other here, and a publisher may rename a
            file: its page has the exact name.
          </p>
        </>
      )}
    </Loaded>
  )
}
