import { useEffect, useMemo, useRef, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { queryClient, useReason } from '../../app/session.ts'
import { useKeys } from '../../app/shortcuts.ts'
import { Loaded } from '../../app/states.tsx'
import { formatBytes } from '../../format/figures.ts'
import { Button } from '../../kit/button.tsx'
import { Bar } from '../../kit/figures.tsx'
import { Card, KeyValue, Page as Frame, Stack } from '../../kit/page.tsx'
import type { Schemas } from '../../api/types.ts'
import { FetchDrawer } from './fetch-drawer.tsx'
import { FileCard } from './file-card.tsx'
import { JobList } from '../../app/weights/job-list.tsx'
import { UseDrawer } from './use-drawer.tsx'
import { fleetQuery, jobsQuery, type Job } from '../../app/weights/queries.ts'
import { WeightsTable } from './weights-table.tsx'

type Opened = { readonly kind: 'fetch'; readonly source: string } | { readonly kind: 'use'; readonly model: ModelId }
type ModelId = Schemas['ModelStatus']['id']

/** What is loaded, who is being answered and who waits; the weights that there are, and the fetching of others. */
export function Page() {
  const fleet = useQuery(fleetQuery)
  const jobs = useQuery(jobsQuery)
  useFilesAnewWhenOver(jobs.data)
  const [opened, setOpened] = useState<Opened | null>(null)
  const reason = useReason(null, 'engines:update')
  const fetchOther = (source = '') => setOpened({ kind: 'fetch', source })
  useKeys(
    useMemo(() => ({ c: () => (reason === null ? setOpened({ kind: 'fetch', source: '' }) : undefined) }), [reason]),
  )
  const close = () => setOpened(null)
  return (
    <Frame
      title="Models and engines"
      said="Read anew every 2 seconds."
      actions={
        <Button look="primary" icon="download" shortcut="c" reason={reason} onClick={() => fetchOther()}>
          Fetch weights
        </Button>
      }
    >
      <JobList jobs={jobs.data ?? []} reason={reason} />
      <Loaded query={fleet} what="The models">
        {({ files, memory }) => (
          <Stack>
            {files.map((file) => (
              <FileCard
                key={`${file.weights.name} ${file.models.join(' ')}`}
                file={file}
                reason={reason}
                onUse={(model) => setOpened({ kind: 'use', model })}
              />
            ))}
            <Memory memory={memory} />
          </Stack>
        )}
      </Loaded>
      <WeightsTable reason={reason} />
      {opened?.kind === 'fetch' && <FetchDrawer known={opened.source} onClose={close} />}
      {opened?.kind === 'use' && <UseDrawer model={opened.model} onClose={close} onFetch={() => fetchOther()} />}
    </Frame>
  )
}

/** What a job leaves behind is in lists that are not read all the time. */
function useFilesAnewWhenOver(jobs: readonly Job[] | undefined): void {
  const running = jobs?.filter(({ state }) => state === 'under-way').length ?? 0
  const before = useRef(0)
  useEffect(() => {
    if (running < before.current) {
      for (const queryKey of [['weights-files'], ['weights-recommended']]) {
        void queryClient.invalidateQueries({ queryKey })
      }
    }
    before.current = running
  }, [running])
}

type MemoryFacts = { readonly totalBytes: number; readonly availableBytes: number; readonly weightsBytes: number }

function Memory({ memory: { totalBytes, availableBytes, weightsBytes } }: { readonly memory: MemoryFacts }) {
  const share = totalBytes === 0 ? 0 : weightsBytes / totalBytes
  return (
    <Card title="Memory">
      <Stack>
        <KeyValue
          rows={[
            ['Machine', formatBytes(totalBytes)],
            ['Weights', formatBytes(weightsBytes)],
            ['Available', formatBytes(availableBytes)],
          ]}
        />
        <Bar share={Math.min(0.79, share)} />
        <p>
          While weights are swapped the old and the new ones are in memory at the same time. Answers and the prompts
          that are kept for the cache need the rest.
        </p>
      </Stack>
    </Card>
  )
}
