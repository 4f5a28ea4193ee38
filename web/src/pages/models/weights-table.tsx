import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { Confirm } from '../../app/confirm.tsx'
import { Empty, Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { formatBytes } from '../../format/figures.ts'
import { IconButton } from '../../kit/button.tsx'
import { Time } from '../../kit/content.tsx'
import { Badge, Card } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { touched, weightsQuery, type WeightsFile } from '../../app/weights/queries.ts'

/** The files in the folder of weights, whoever put them there. */
export function WeightsTable({ reason }: { readonly reason: string | null }) {
  const query = useQuery(weightsQuery)
  const [dropped, setDropped] = useState<WeightsFile | null>(null)
  return (
    <Card title="Weights on this machine" isFlush={query.data?.length !== 0}>
      <Loaded query={query} what="The weights" rows={2}>
        {(files) =>
          files.length === 0 ? (
            <Empty command="npx odyssey models pull clarke-1.0 owner/repo/file.gguf">
              Nothing was fetched yet. A GGUF file that is put into weights/ in the data folder is listed here too.
            </Empty>
          ) : (
            <Files files={files} reason={reason} onDelete={setDropped} />
          )
        }
      </Loaded>
      {dropped !== null && <Delete file={dropped} onClose={() => setDropped(null)} />}
    </Card>
  )
}

type FilesProps = {
  readonly files: readonly WeightsFile[]
  readonly reason: string | null
  readonly onDelete: (file: WeightsFile) => void
}

function Files({ files, reason, onDelete }: FilesProps) {
  const columns: readonly Column<WeightsFile>[] = [
    { key: 'name', head: 'File', cell: ({ name }) => <span style={{ overflowWrap: 'anywhere' }}>{name}</span> },
    {
      key: 'used',
      head: 'Used by',
      cell: ({ usedBy, isWhole }) =>
        isWhole ? usedBy.length === 0 ? '–' : usedBy.join(', ') : <Badge>parts are missing</Badge>,
    },
    { key: 'size', head: 'Size', isRight: true, cell: ({ bytes }) => formatBytes(bytes) },
    { key: 'changed', head: 'Changed', phone: 'off', cell: ({ changedAt }) => <Time at={changedAt} /> },
    {
      key: 'sha256',
      head: 'SHA-256',
      phone: 'off',
      cell: ({ sha256 }) => (sha256 === null ? '–' : <code title={sha256}>{`${sha256.slice(0, 12)}…`}</code>),
    },
    {
      key: 'actions',
      head: '',
      phone: 'side',
      cell: (file) => (
        <IconButton
          icon="close"
          name={`Delete ${file.name}`}
          isSmall
          reason={file.usedBy.length > 0 ? `${file.usedBy.join(', ')} has these weights.` : reason}
          onClick={() => onDelete(file)}
        />
      ),
    },
  ]
  return <Table name="Weights on this machine" columns={columns} items={files} keyOf={({ id }) => id} />
}

function Delete({ file, onClose }: { readonly file: WeightsFile; readonly onClose: () => void }) {
  const change = useChange(
    (_: null, options) =>
      api('DELETE /api/v1/installation/weights/{weightsId}', { params: { weightsId: file.id } }, options),
    { touches: touched, onDone: onClose },
  )
  const shortName = file.name.split('/').at(-1) ?? file.name
  return (
    <Confirm
      title="Delete weights"
      verb="Delete file"
      typedName={shortName}
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      {formatBytes(file.bytes)} are freed. No model has this file; who wants it again fetches it again.
    </Confirm>
  )
}
