import { Button } from '../../kit/button.tsx'
import { TextArea } from '../../kit/field.tsx'
import { Card, Row, Stack } from '../../kit/page.tsx'
import { InputCount } from './input-count.tsx'
import type { Playground } from './use-playground.ts'

const example = 'Name three things that a gateway for models does, each in one sentence.'

/** Where the next message is written and sent, with what it will be counted as. */
export function Composer({ playground }: { readonly playground: Playground }) {
  const { typed, setTyped, isBusy, reason, search, settings, next, fault, organizationId, projectId } = playground
  return (
    <Card>
      <Stack>
        <TextArea
          label="Message"
          rows={4}
          value={typed}
          onText={setTyped}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) playground.ask()
            if (event.key === 'Escape') playground.stop()
          }}
        />
        <Row>
          {isBusy ? (
            <Button icon="stop" shortcut="Esc" onClick={() => playground.stop()}>
              Stop
            </Button>
          ) : (
            <Button look="primary" icon="play" shortcut="Ctrl ⏎" reason={reason} onClick={() => playground.ask()}>
              {search.compare ? 'Run both' : 'Run'}
            </Button>
          )}
          {typed === '' && !isBusy && playground.turns.length === 0 && (
            <Button look="quiet" onClick={() => setTyped(example)}>
              Use an example
            </Button>
          )}
          {projectId !== '' && next.length > 0 && fault === null && (
            <InputCount place={{ organizationId, projectId }} settings={settings} turns={next} />
          )}
        </Row>
      </Stack>
    </Card>
  )
}
