import { useQuery } from '@tanstack/react-query'
import { formatBytes } from '../../format/figures.ts'
import { Button } from '../../kit/button.tsx'
import { StateTag, type Mood } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { Loaded } from '../states.tsx'
import { recommendedQuery, type Recommended } from './queries.ts'

const fits: Readonly<Record<Recommended['fit'], readonly [string, Mood]>> = {
  beside: ['fits', 'good'],
  alone: ['fits after a restart', 'warn'],
  no: ['too large', 'off'],
}

type Props = {
  readonly verb: string
  /** The model they are for: those that it is recommended for come first. */
  readonly model?: string
  /** Why none can be chosen at all. */
  readonly reason?: string | null
  readonly onChoice: (source: string) => void
}

/** Weights to begin with, and which of them this machine holds. */
export function Recommendations({ verb, model, reason = null, onChoice }: Props) {
  const query = useQuery(recommendedQuery)
  const columns: readonly Column<Recommended>[] = [
    { key: 'name', head: 'Weights', cell: ({ name }) => name },
    { key: 'models', head: 'For', phone: 'off', cell: ({ models }) => models.join(', ') },
    { key: 'size', head: 'Size', isRight: true, cell: ({ bytes }) => formatBytes(bytes) },
    { key: 'fit', head: 'This machine', cell: ({ fit }) => <StateTag mood={fits[fit][1]}>{fits[fit][0]}</StateTag> },
    {
      key: 'choose',
      head: '',
      phone: 'side',
      cell: ({ name, source, fit }) => (
        <Button
          isSmall
          aria-label={`${verb} ${name}`}
          reason={fit === 'no' ? 'This machine’s memory does not hold them.' : reason}
          onClick={() => onChoice(source)}
        >
          {verb}
        </Button>
      ),
    },
  ]
  return (
    <Loaded query={query} what="The list of weights" rows={3}>
      {(recommended) => (
        <>
          <Table
            name="Weights to begin with"
            columns={columns}
            items={firstFor(model, recommended)}
            keyOf={({ source }) => source}
          />
          <p>
            Sizes are those of the files. They were not compared with each other here, and a publisher may rename a
            file: its page has the exact name.
          </p>
        </>
      )}
    </Loaded>
  )
}

function firstFor(model: string | undefined, all: readonly Recommended[]): readonly Recommended[] {
  const isFor = ({ models }: Recommended) => models.some((one) => one === model)
  return [...all.filter(isFor), ...all.filter((one) => !isFor(one))]
}
