// Stacked bars over time: one path a series, so that a year of hours is a handful of elements. Colours are variables of
// the theme, and a switch of themes draws nothing anew.

import { useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react'
import { say } from '../lib/voice.ts'
import { spacedHours, spacedIndexes, ticksUpTo } from './ticks.ts'
import styles from './time-bars.module.css'

export type Series = {
  readonly name: string
  readonly color: string
  readonly values: readonly number[]
  readonly words: readonly string[]
}

type Props = {
  /** One sentence for who cannot see it; the figures are in the table below. */
  readonly summary: string
  readonly labels: readonly string[]
  /** Where buckets are hours, which of the day each is. */
  readonly hours?: readonly number[]
  /** Longer ones, for the bucket under the cursor. */
  readonly titles: readonly string[]
  /** From the bottom of the stack to its top. */
  readonly series: readonly Series[]
  readonly totals?: readonly string[]
  readonly formatTick: (value: number) => string
  readonly onOpen?: (index: number) => void
  /** What is counted has no halves. */
  readonly isWhole?: boolean
}

const height = 220
const margin = { left: 56, right: 8, top: 8, bottom: 22 } as const
const inner = height - margin.top - margin.bottom
const labelWidth = 92

export function TimeBars({
  summary,
  labels,
  hours,
  titles,
  series,
  totals,
  formatTick,
  onOpen,
  isWhole = false,
}: Props) {
  const frame = useRef<HTMLDivElement>(null)
  const width = useWidth(frame)
  const [cursor, setCursor] = useState<number | null>(null)
  const count = labels.length
  const sums = labels.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0))
  const ticks = ticksUpTo(Math.max(...sums, 0), isWhole)
  const scale = inner / (ticks.at(-1) ?? 1)
  const step = (width - margin.left - margin.right) / Math.max(1, count)
  const labelsMax = Math.floor((width - margin.left) / labelWidth)
  const labelled = hours === undefined ? spacedIndexes(count, labelsMax) : spacedHours(hours, labelsMax)
  const at = (clientX: number) => {
    const left = frame.current?.getBoundingClientRect().left ?? 0
    const index = Math.floor((clientX - left - margin.left) / step)
    return index >= 0 && index < count ? index : null
  }
  const onKey = (event: KeyboardEvent) => {
    const next = stepCursor(event.key, cursor, count)
    if (next !== undefined) {
      event.preventDefault()
      setCursor(next)
      if (next !== null) sayBar(next, titles[next], series)
    }
    if (event.key === 'Enter' && cursor !== null) onOpen?.(cursor)
  }
  return (
    <div className={styles.frame} ref={frame}>
      <svg
        className={styles.chart}
        viewBox={`0 0 ${width} ${height}`}
        height={height}
        role="img"
        aria-label={summary}
        tabIndex={0}
        onPointerMove={(event) => setCursor(at(event.clientX))}
        onPointerLeave={() => setCursor(null)}
        onBlur={() => setCursor(null)}
        onClick={(event) => openAt(at(event.clientX), onOpen)}
        onKeyDown={onKey}
      >
        {ticks.map((tick) => (
          <Tick
            key={tick}
            y={margin.top + inner - tick * scale}
            width={width}
            text={formatTick(tick)}
            isBase={tick === 0}
          />
        ))}
        {stackPaths(series, { step, scale }).map(({ name, color, path }) => (
          <path key={name} d={path} fill={color} stroke="var(--surface)" strokeWidth={step > 6 ? 1 : 0} />
        ))}
        {labelled.map((index) => (
          <text
            key={index}
            className={styles.tick}
            x={margin.left + index * step + Math.min(step / 2, 12)}
            y={height - 6}
            textAnchor={step > 40 ? 'middle' : 'start'}
          >
            {labels[index]}
          </text>
        ))}
        {cursor !== null && (
          <rect className={styles.cursor} x={margin.left + cursor * step} y={margin.top} width={step} height={inner} />
        )}
      </svg>
      {cursor !== null && (
        <Tip
          cursor={cursor}
          title={titles[cursor] ?? ''}
          series={series}
          total={totals?.[cursor]}
          x={margin.left + (cursor + 0.5) * step}
          width={width}
        />
      )}
      {series.length > 1 && <Legend series={series} />}
    </div>
  )
}

function openAt(index: number | null, onOpen: Props['onOpen']): void {
  if (index !== null) onOpen?.(index)
}

function stepCursor(key: string, cursor: number | null, count: number): number | null | undefined {
  if (count === 0) return undefined
  switch (key) {
    case 'ArrowRight':
      return Math.min(count - 1, (cursor ?? -1) + 1)
    case 'ArrowLeft':
      return Math.max(0, (cursor ?? count) - 1)
    case 'Home':
      return 0
    case 'End':
      return count - 1
    case 'Escape':
      return null
    default:
      return undefined
  }
}

/** A bar as its tip shows it; the sum of its parts is in the table. */
function sayBar(index: number, title: string | undefined, series: readonly Series[]): void {
  say([title, ...series.map(({ name, words }) => `${name} ${words[index]}`)].join(', '))
}

function Tick({
  y,
  width,
  text,
  isBase,
}: {
  readonly y: number
  readonly width: number
  readonly text: string
  readonly isBase: boolean
}) {
  return (
    <>
      <line className={isBase ? styles.base : styles.grid} x1={margin.left} x2={width - margin.right} y1={y} y2={y} />
      <text className={styles.tick} x={margin.left - 8} y={y + 4} textAnchor="end">
        {text}
      </text>
    </>
  )
}

type Scale = { readonly step: number; readonly scale: number }

function stackPaths(series: readonly Series[], { step, scale }: Scale) {
  const count = series[0]?.values.length ?? 0
  const reached = Array.from({ length: count }, () => 0)
  const gap = step > 6 ? Math.min(6, step * 0.2) : 0
  return series.map(({ name, color, values }) => {
    let path = ''
    for (const [index, value] of values.entries()) {
      if (!(value > 0)) continue
      const below = reached[index] ?? 0
      reached[index] = below + value
      const x = margin.left + index * step + gap / 2
      const top = margin.top + inner - (below + value) * scale
      // What is there is seen, however little of the whole it is.
      const tall = Math.max(1, value * scale)
      path += `M${x.toFixed(1)} ${top.toFixed(1)}h${(step - gap).toFixed(1)}v${tall.toFixed(1)}h${(gap - step).toFixed(1)}z`
    }
    return { name, color, path }
  })
}

type TipProps = {
  readonly cursor: number
  readonly title: string
  readonly series: readonly Series[]
  readonly total: string | undefined
  readonly x: number
  readonly width: number
}

function Tip({ cursor, title, series, total, x, width }: TipProps) {
  const side = x > width / 2 ? { right: width - x + 12 } : { left: x + 12 }
  return (
    <div className={styles.tip} style={side} aria-hidden>
      <strong>{title}</strong>
      {series.toReversed().map(({ name, color, words }) => (
        <div key={name}>
          <i className={styles.key} style={{ background: color }} />
          <span>{name}</span>
          <span>{words[cursor]}</span>
        </div>
      ))}
      {total !== undefined && series.length > 1 && (
        <div>
          <i className={styles.key} />
          <span>all</span>
          <span>{total}</span>
        </div>
      )}
    </div>
  )
}

function Legend({ series }: { readonly series: readonly Series[] }) {
  return (
    <ul className={styles.legend}>
      {series.map(({ name, color }) => (
        <li key={name}>
          <i className={styles.key} style={{ background: color }} />
          {name}
        </li>
      ))}
    </ul>
  )
}

const widthAtFirst = 900

function useWidth(frame: React.RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(widthAtFirst)
  // Before the first picture, in which it would be drawn for another width.
  useLayoutEffect(() => {
    const element = frame.current
    if (element === null) return
    const measure = () => setWidth(Math.max(240, element.clientWidth))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [frame])
  return width
}
