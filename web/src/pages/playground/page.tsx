import { useState } from 'react'
import { NameFilter } from '../../app/name-filter.tsx'
import type { PageParams } from '../../app/paths.ts'
import { Button } from '../../kit/button.tsx'
import { Checkbox } from '../../kit/field.tsx'
import { Banner, Columns, Grid, Page as Frame, Stack } from '../../kit/page.tsx'
import { AnswerView } from './answer-view.tsx'
import { CodeDialog } from './code-dialog.tsx'
import { Comparison } from './comparison.tsx'
import { Composer } from './composer.tsx'
import { SettingsCard } from './settings-card.tsx'
import { TurnList } from './turn-list.tsx'
import { usePlayground, type Playground } from './use-playground.ts'

/** Asks one model or two, under the reader's own name. Nothing of a conversation is stored anywhere. */
export function Page({ params }: { readonly params: PageParams }) {
  const playground = usePlayground(params['organizationId'] ?? '')
  const [hasCode, setCode] = useState(false)
  const { search, change, texts, setTexts, settings, turns, next, lacksProject } = playground
  const actions = (
    <>
      <Button icon="code" reason={playground.fault} onClick={() => setCode(true)}>
        Code
      </Button>
      <Button onClick={() => playground.clear()}>Begin anew</Button>
    </>
  )
  return (
    <Frame
      title="Playground"
      said={lacksProject ?? 'It counts as yours, in the project.'}
      actions={actions}
      filters={<Filters playground={playground} />}
    >
      <Columns>
        <Stack>
          {playground.isPartial && (
            <Banner>Something of this request has no place here, as pictures: it is left out.</Banner>
          )}
          <TurnList turns={turns} />
          <Answers playground={playground} />
          <Composer playground={playground} />
        </Stack>
        <SettingsCard
          search={search}
          texts={texts}
          fault={playground.fault}
          onChange={change}
          onText={(changes) => setTexts({ ...texts, ...changes })}
        />
      </Columns>
      {hasCode && <CodeDialog settings={settings} turns={next} onClose={() => setCode(false)} />}
    </Frame>
  )
}

function Filters({ playground: { projects, projectId, search, change } }: { readonly playground: Playground }) {
  return (
    <>
      {projects.length > 0 && (
        <NameFilter
          label="Project"
          value={projectId}
          choices={projects.map(({ id, name }) => ({ value: id, label: name }))}
          onChoice={(project) => change({ project })}
        />
      )}
      <Checkbox label="Compare two models" isOn={search.compare} onChange={(compare) => change({ compare })} />
    </>
  )
}

/** What came of the last question, in one column or two, and how the two compare once both are over. */
function Answers({ playground }: { readonly playground: Playground }) {
  const { search, columns, organizationId } = playground
  const shown = columns.flatMap(({ name, column: { run } }) => (run === null ? [] : [{ name, run }]))
  const [first, second] = shown
  return (
    <>
      <Grid least={search.compare ? 260 : 600}>
        {shown.map(({ name, run }, index) => (
          <AnswerView
            key={index}
            name={search.compare ? name : 'Answer'}
            run={run}
            organizationId={organizationId}
            reason={playground.fault}
            onResults={(results) => playground.goOn(run, { kind: 'results', results })}
            {...(search.compare && { onChoice: () => playground.keep(run) })}
          />
        ))}
      </Grid>
      {first?.run.isOver && second?.run.isOver && <Comparison columns={[first, second]} />}
    </>
  )
}
