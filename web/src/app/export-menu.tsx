import { IconButton } from '../kit/button.tsx'
import { Menu, type MenuEntry } from '../kit/layers.tsx'

type Format = 'csv' | 'jsonl'
type Part = { readonly label: string; addressIn(format: Format): string }

/** Files that the service makes; the filters are those of the click. */
export function ExportMenu({ parts }: { readonly parts: readonly Part[] }) {
  const entries = parts.flatMap(({ label, addressIn }, index): readonly MenuEntry[] => [
    ...(index === 0 ? [] : [{ kind: 'rule' } as const]),
    { kind: 'name', label },
    { kind: 'action', label: 'CSV', act: () => save(addressIn('csv')) },
    { kind: 'action', label: 'JSON lines', act: () => save(addressIn('jsonl')) },
  ])
  return <Menu name="Export" trigger={<IconButton icon="download" name="Export" look="plain" />} entries={entries} />
}

/** By a link, which nothing breaks off: a journey to the file's address ends where the page's own address is changed. */
function save(address: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = ''
  link.click()
}
