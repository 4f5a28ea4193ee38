import type { PageParams } from '../../app/paths.ts'
import { Page as Frame } from '../../kit/page.tsx'
import { Connections } from './connections.tsx'
import { Directories } from './directories.tsx'
import { Domains } from './domains.tsx'

export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  return (
    <Frame
      title="Sign-in and directory"
      said="How members come in by the organization’s own provider, and the directories that make them and let them go."
    >
      <Connections organizationId={organizationId} />
      <Domains organizationId={organizationId} />
      <Directories organizationId={organizationId} />
    </Frame>
  )
}
