import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api, type BodyOf } from '../../api/client.ts'
import { formatBytes } from '../../format/figures.ts'
import { Button } from '../../kit/button.tsx'
import { Select } from '../../kit/field.tsx'
import { Link } from '../../kit/link.tsx'
import { Banner, Card, Row, Stack } from '../../kit/page.tsx'
import { ChangeProblem } from '../change-problem.tsx'
import { modelIds } from '../models.ts'
import { pagePath } from '../paths.ts'
import { preferences, usePreferences } from '../preferences.ts'
import { useReason } from '../session.ts'
import { Loaded } from '../states.tsx'
import { useChange } from '../use-change.ts'
import { JobList } from './job-list.tsx'
import { fleetQuery, jobsQuery, touched } from './queries.ts'
import { Recommendations } from './recommendations.tsx'

const name = 'weights-step'
type Wanted = BodyOf<'POST /api/v1/installation/weights/pull'>
type Target = (typeof modelIds)[number] | 'none'

/** On a fresh installation: the weights that this machine holds, fetched in the background, or the starter weights kept. */
export function WeightsStep({ title }: { readonly title: string }) {
  const { dismissed } = usePreferences()
  const reason = useReason(null, 'engines:update')
  if (reason !== null || dismissed.includes(name)) return null
  return (
    <Card title={title}>
      <Choice onLeave={() => preferences.change({ dismissed: [...dismissed, name] })} />
    </Card>
  )
}

function Choice({ onLeave }: { readonly onLeave: () => void }) {
  const fleet = useQuery(fleetQuery)
  const jobs = useQuery(jobsQuery).data ?? []
  const [target, setTarget] = useState<Target>(modelIds[0])
  const change = useChange(
    (body: Wanted, options) => api('POST /api/v1/installation/weights/pull', { body }, options),
    { touches: touched },
  )
  const isUnderWay = jobs.some(({ state }) => state === 'under-way')
  return (
    <Loaded query={fleet} what="What this machine has" rows={3}>
      {({ memory, files }) => (
        <Stack>
          <p>
            {files.every(({ weights }) => weights.isBuiltIn)
              ? 'The models answer with the starter weights, which are small.'
              : 'Not all models answer with the starter weights any more.'}{' '}
            This machine has {formatBytes(memory.totalBytes)} of memory. What is fetched arrives in the background, and
            a model gets it once it has answered a first time: no request fails meanwhile.
          </p>
          {jobs.length > 0 && <JobList jobs={jobs} reason={null} />}
          <ChangeProblem problem={change.problem} />
          <Select
            label="For"
            value={target}
            choices={[
              ...modelIds.map((model) => ({ value: model, label: model })),
              { value: 'none', label: 'Fetch only' },
            ]}
            onChoice={setTarget}
          />
          <Recommendations
            verb="Fetch"
            model={target}
            reason={change.isBusy ? 'It is being asked for.' : null}
            onChoice={(source) => void change.run({ source, model: target === 'none' ? null : target, sha256: null })}
          />
          {isUnderWay && <Banner>This page may be left: it goes on.</Banner>}
          <Row>
            <Button onClick={onLeave}>{jobs.length === 0 ? 'Keep the starter weights' : 'Done with weights'}</Button>
            <Link href={pagePath('models')}>Other weights, and files that are here</Link>
          </Row>
        </Stack>
      )}
    </Loaded>
  )
}
