import type { ReactNode } from 'react'
import { Code } from '../../kit/content.tsx'
import { Link } from '../../kit/link.tsx'
import type { Block, Cell, Inline } from '../../lib/guide.ts'
import styles from './guide.module.css'
import { withOwnAddress } from './own-address.ts'

/** A guide's text. */
export function GuideBlocks({ blocks, within = '' }: { readonly blocks: readonly Block[]; readonly within?: string }) {
  return (
    <div className={styles.guide}>
      {blocks.map((block, at) => (
        <GuideBlock key={at} block={block} place={`${within}${at + 1}`} />
      ))}
    </div>
  )
}

/** `place` tells what can be scrolled apart from the others of its kind, for who does not see where it stands. */
function GuideBlock({ block, place }: { readonly block: Block; readonly place: string }): ReactNode {
  switch (block.kind) {
    case 'heading': {
      const Heading = block.level <= 2 ? 'h2' : block.level === 3 ? 'h3' : 'h4'
      return (
        <Heading id={block.id}>
          <a href={`#${block.id}`}>
            <Inlines text={block.text} />
          </a>
        </Heading>
      )
    }
    case 'text':
      return (
        <p>
          <Inlines text={block.text} />
        </p>
      )
    case 'code':
      return <Code text={withOwnAddress(block.text)} label={block.language} name={`Code ${place}`} />
    case 'list': {
      const List = block.isOrdered ? 'ol' : 'ul'
      return (
        <List>
          {block.items.map((item, at) => (
            <li key={at}>
              <Item blocks={item} within={`${place}.${at + 1}.`} />
            </li>
          ))}
        </List>
      )
    }
    case 'table':
      return <GuideTable name={`Table ${place}`} head={block.head} rows={block.rows} />
    case 'quote':
      return (
        <blockquote>
          <GuideBlocks blocks={block.blocks} within={`${place}.`} />
        </blockquote>
      )
  }
}

/** An item of one text alone stands in its line without a paragraph of its own. */
function Item({ blocks, within }: { readonly blocks: readonly Block[]; readonly within: string }) {
  const [first] = blocks
  if (blocks.length === 1 && first?.kind === 'text') return <Inlines text={first.text} />
  return blocks.map((block, at) => <GuideBlock key={at} block={block} place={`${within}${at + 1}`} />)
}

type TableProps = { readonly name: string; readonly head: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] }

function GuideTable({ name, head, rows }: TableProps) {
  return (
    <div className={styles.table} role="region" aria-label={name} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, at) => (
              <HeadCell key={at} cell={cell} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column}>
                  <Inlines text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Where the column needs no words there is no head for readers of the screen to stop at. */
function HeadCell({ cell }: { readonly cell: Cell }) {
  if (cell.length === 0) return <td />
  return (
    <th scope="col">
      <Inlines text={cell} />
    </th>
  )
}

function Inlines({ text }: { readonly text: readonly Inline[] }) {
  return text.map((one, at) => <InlinePart key={at} part={one} />)
}

function InlinePart({ part }: { readonly part: Inline }) {
  if (typeof part === 'string') return withOwnAddress(part)
  switch (part.kind) {
    case 'code':
      return <code>{withOwnAddress(part.text)}</code>
    case 'strong':
      return (
        <strong>
          <Inlines text={part.text} />
        </strong>
      )
    case 'emphasis':
      return (
        <em>
          <Inlines text={part.text} />
        </em>
      )
    case 'link':
      return <GuideLink href={part.href} text={part.text} />
  }
}

/** A link into a page goes there as the browser does it, which scrolls to the place. */
function GuideLink({ href, text }: { readonly href: string; readonly text: readonly Inline[] }) {
  const said = <Inlines text={text} />
  return href.startsWith('/') && !href.includes('#') ? <Link href={href}>{said}</Link> : <a href={href}>{said}</a>
}
