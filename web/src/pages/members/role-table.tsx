import { roleChoices, roleWords } from '../../app/roles.ts'
import { KeyValue } from '../../kit/page.tsx'

export function RoleTable() {
  return <KeyValue rows={roleChoices.map(({ value, label }) => [label, roleWords[value]])} />
}
