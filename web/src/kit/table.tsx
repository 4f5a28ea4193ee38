import { useEffect, type ReactNode } from 'react'
import { sayToWhoFilters } from '../lib/voice.ts'
import { Button } from './button.tsx'
import { Icon } from './icons.tsx'
import styles from './table.module.css'

export type Column<Item> = {
  readonly key: string
  readonly head: string
  readonly isRight?: boolean
  /** On a phone the first column is the row's title; the others stand beside it, on the line below it, or nowhere. */
  readonly phone?: 'side' | 'line' | 'off'
  /** Whether the rows can be put in the order of this column. */
  readonly canSort?: boolean
  /** What it shows is short, and hard to read in parts. */
  readonly isOneLine?: boolean
  cell(item: Item): ReactNode
}

export type Sorting = { readonly key: string; readonly isDown: boolean }

type TableProps<Item> = {
  /** Says what the table shows, to who hears it. */
  readonly name: string
  readonly columns: readonly Column<Item>[]
  readonly items: readonly Item[]
  readonly keyOf: (item: Item) => string
  readonly sorting?: Sorting
  readonly onSort?: (sorting: Sorting) => void
  readonly isSelected?: (item: Item) => boolean
}

export function Table<Item>({ name, columns, items, keyOf, sorting, onSort, isSelected }: TableProps<Item>) {
  const count = items.length
  const firstKey = items.slice(0, 1).map(keyOf).join('')
  useEffect(() => sayToWhoFilters(`${name}: ${count}`), [name, count, firstKey])
  return (
    <div className={styles.frame} role="group" aria-label={name} tabIndex={0}>
      <table className={styles.table} role="table">
        <caption className="unseen">{name}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <Head key={column.key} column={column} sorting={sorting} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {items.map((item) => (
            <tr role="row" key={keyOf(item)} data-row="" data-selected={isSelected?.(item) || undefined}>
              {columns.map((column, index) => (
                <Cell key={column.key} column={column} item={item} isTitle={index === 0} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Cell<Item>({
  column: { isRight, isOneLine, phone = 'line', head, cell },
  item,
  isTitle,
}: {
  readonly column: Column<Item>
  readonly item: Item
  readonly isTitle: boolean
}) {
  const side = isRight ? styles.right : isOneLine ? styles.oneLine : undefined
  if (isTitle) {
    return (
      <th scope="row" role="rowheader" className={`${side ?? ''} ${styles.name}`}>
        {cell(item)}
      </th>
    )
  }
  return (
    <td role="cell" className={side} data-phone={phone} data-label={head}>
      {cell(item)}
    </td>
  )
}

type HeadProps<Item> = {
  readonly column: Column<Item>
  readonly sorting: Sorting | undefined
  readonly onSort: ((sorting: Sorting) => void) | undefined
}

function Head<Item>({ column: { key, head, isRight, canSort }, sorting, onSort }: HeadProps<Item>) {
  const isSorted = sorting?.key === key
  const side = isRight ? styles.right : undefined
  if (!canSort || onSort === undefined) {
    return (
      <th scope="col" role="columnheader" className={side}>
        {head === '' ? <span className="unseen">Actions</span> : head}
      </th>
    )
  }
  const order = isSorted ? (sorting.isDown ? 'descending' : 'ascending') : 'none'
  return (
    <th scope="col" role="columnheader" className={side} aria-sort={order}>
      <button
        type="button"
        className={styles.sort}
        data-sorted={isSorted || undefined}
        onClick={() => onSort({ key, isDown: isSorted ? !sorting.isDown : true })}
      >
        {head}
        {isSorted && (
          <span style={{ display: 'inline-flex', rotate: sorting.isDown ? '0deg' : '180deg' }}>
            <Icon name="down" size={12} />
          </span>
        )}
      </button>
    </th>
  )
}

/** How many are shown, and the way to more. */
export function More({
  shown,
  what,
  hasMore,
  isBusy,
  onMore,
}: {
  readonly shown: number
  readonly what: string
  readonly hasMore: boolean
  readonly isBusy: boolean
  readonly onMore: () => void
}) {
  return (
    <div className={styles.more}>
      <span role="status">
        {shown} {what}
        {hasMore ? ' shown' : ''}
      </span>
      {hasMore && (
        <Button isSmall isBusy={isBusy} onClick={onMore}>
          Show 100 more
        </Button>
      )}
    </div>
  )
}
