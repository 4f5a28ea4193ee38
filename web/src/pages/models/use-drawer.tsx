import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { formatBytes } from '../../format/figures.ts'
import { Button } from '../../kit/button.tsx'
import { Select } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { touched, weightsQuery } from '../../app/weights/queries.ts'

type Props = {
  readonly model: Schemas['ModelStatus']['id']
  readonly onClose: () => void
  readonly onFetch: () => void
}

const starter = 'starter'

/** Gives a model weights that are on this machine, or those that come with Odyssey. */
export function UseDrawer({ model, onClose, onFetch }: Props) {
  const files = useQuery(weightsQuery)
  const [chosen, setChosen] = useState<string>(starter)
  const change = useChange(
    (weightsId: `weights_${string}` | null, options) =>
      api('POST /api/v1/installation/models/{model}/weights', { params: { model }, body: { weightsId } }, options),
    { touches: touched, onDone: onClose },
  )
  const use = () => void change.run(chosen === starter ? null : (chosen as `weights_${string}`))
  const foot = (
    <>
      <Button onClick={onFetch}>Fetch others</Button>
      <Button type="submit" look="primary" isBusy={change.isBusy}>
        Use these weights
      </Button>
    </>
  )
  return (
    <Drawer
      title={`Weights of ${model}`}
      said="They are loaded beside the old ones and have to answer once; then the next request is theirs. No request fails."
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={use}
    >
      <ChangeProblem problem={change.problem} />
      <Loaded query={files} what="The weights" rows={2}>
        {(known) => (
          <Select
            label="Weights"
            value={chosen}
            choices={[
              { value: starter, label: 'The starter weights that come with Odyssey' },
              ...known
                .filter(({ isWhole }) => isWhole)
                .map(({ id, name, bytes }) => ({ value: id, label: `${name}, ${formatBytes(bytes)}` })),
            ]}
            onChoice={setChosen}
            hint="Files in weights/ in the data folder."
          />
        )}
      </Loaded>
    </Drawer>
  )
}
