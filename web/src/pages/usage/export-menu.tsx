import { addressOf } from '../../api/client.ts'
import { ExportMenu } from '../../app/export-menu.tsx'
import { scopeOf } from '../../app/usage-sums.ts'
import { attributionOf, groupingOf, requestsFilterOf, type Range, type UsageSearch } from './search.ts'

type Props = { readonly organizationId: string; readonly range: Range; readonly search: UsageSearch }

/** What is saved is what is shown: the filters are those of the click, and the file's name says them. */
export function UsageExport({ organizationId, range: { from, to, bucket }, search }: Props) {
  const { zone, model, project, key } = search
  const shown = { from, to, bucket, zone, ...groupingOf(search), ...scopeOf(search), ...attributionOf(search) }
  const rows = { from, to, model, projectId: project, apiKeyId: key }
  const own = { organizationId }
  return (
    <ExportMenu
      parts={[
        {
          label: 'By bucket, as shown',
          addressIn: (format) =>
            addressOf('/api/v1/organizations/{organizationId}/usage/export', own, { ...shown, format }),
        },
        // Rows of other users and tags would be among them.
        ...(requestsFilterOf(search) === null
          ? []
          : [
              {
                label: 'One row a request',
                addressIn: (format: 'csv' | 'jsonl') =>
                  addressOf('/api/v1/organizations/{organizationId}/ledger/export', own, { ...rows, format }),
              },
            ]),
      ]}
    />
  )
}
