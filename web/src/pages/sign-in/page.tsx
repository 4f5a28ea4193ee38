import type { PageParams } from '../../app/paths.ts'
import { useReason } from '../../app/session.ts'
import { Page as Frame } from '../../kit/page.tsx'
import { Connections } from './connections.tsx'
import { Directories } from './directories.tsx'
import { Domains } from './domains.tsx'

export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const mayReadDirectories = useReason(organizationId, 'directories:read') === null
  return (
    <Frame
      title="Sign-in and directory"
      said="How members come in by the organization’s own provider, and the directories that make them and let them go."
    >
      <Connections organizationId={organizationId} />
      <Domains organizationId={organizationId} />
      {mayReadDirectories && <Directories organizationId={organizationId} />}
    </Frame>
  )
}
