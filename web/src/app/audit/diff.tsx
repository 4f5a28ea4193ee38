import { Table } from '../../kit/table.tsx'

type Line = { readonly field: string; readonly before: string; readonly after: string }

/** The fields of a change, as they were and as they are. Values are text, whatever is in them. */
export function Diff({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const [old, now] = [fieldsOf(before), fieldsOf(after)]
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])]
  const lines: readonly Line[] = names.map((field) => ({ field, before: show(old[field]), after: show(now[field]) }))
  if (lines.length === 0) return <p>No fields were recorded.</p>
  return (
    <Table
      name="What was changed"
      items={lines}
      keyOf={({ field }) => field}
      isSelected={({ before: one, after: other }) => one !== other}
      columns={[
        { key: 'field', head: 'Field', cell: ({ field }) => field },
        { key: 'before', head: 'Before', cell: (line) => <code>{line.before}</code> },
        { key: 'after', head: 'After', cell: (line) => <code>{line.after}</code> },
      ]}
    />
  )
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (value === null || value === undefined) return {}
  return typeof value === 'object' && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : { value }
}

function show(value: unknown): string {
  if (value === undefined) return '–'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
