import { useState, type ReactNode } from 'react'
import type { UseQueryResult } from '@tanstack/react-query'
import { Loaded } from '../../app/states.tsx'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

type Named = { readonly id: string; readonly name: string }

type Props<Item extends Named> = {
  readonly title: string
  /** What is read, at the beginning of a sentence. */
  readonly what: string
  /** Said where there is none. */
  readonly none: string
  readonly verb: string
  /** Why none may be added. */
  readonly reason: string | null
  readonly query: UseQueryResult<{ readonly data: readonly Item[] }>
  readonly columns: readonly Column<Item>[]
  /** The form for another one. */
  readonly adding: (parts: { readonly onClose: () => void; readonly onShow: (id: string) => void }) => ReactNode
  /** One of them, opened. */
  readonly opened: (item: Item, onClose: () => void) => ReactNode
}

/** A short list of things that are each opened beside the page. */
export function ListCard<Item extends Named>(props: Props<Item>) {
  const { title, what, none, verb, reason, query, columns, adding, opened } = props
  const [isAdding, setAdding] = useState(false)
  const [shownId, setShownId] = useState<string | null>(null)
  const add = (
    <Button icon="plus" reason={reason} onClick={() => setAdding(true)}>
      {verb}
    </Button>
  )
  const open: Column<Item> = {
    key: 'actions',
    head: '',
    isRight: true,
    phone: 'side',
    cell: ({ id, name }) => (
      <Button isSmall aria-label={`Open ${name}`} onClick={() => setShownId(id)}>
        Open
      </Button>
    ),
  }
  const shown = query.data?.data.find(({ id }) => id === shownId)
  return (
    <Card title={title} actions={add}>
      <Loaded query={query} what={what} rows={2}>
        {({ data }) =>
          data.length === 0 ? (
            <p>{none}</p>
          ) : (
            <Table name={title} columns={[...columns, open]} items={data} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
      {isAdding &&
        adding({
          onClose: () => setAdding(false),
          onShow(id) {
            setAdding(false)
            setShownId(id)
          },
        })}
      {shown !== undefined && opened(shown, () => setShownId(null))}
    </Card>
  )
}
