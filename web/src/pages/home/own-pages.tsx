import { useSession } from '../../app/session.ts'
import { menuEntries } from '../../app/menu.tsx'
import { LinkButton } from '../../kit/button.tsx'
import { Card, Row } from '../../kit/page.tsx'

/** The ways on for a reader whose role leaves them little of what stands here for others. */
export function OwnPages({ organizationId }: { readonly organizationId: string }) {
  const session = useSession()
  if (session === null) return null
  const entries = menuEntries(session, organizationId)
    .flatMap((group) => group.entries)
    .filter(({ name }) => name !== 'home')
  return (
    <Card title="What you may see">
      {entries.length === 0 ? (
        <p>Your role opens no page of this organization. Whoever has given it to you can change that.</p>
      ) : (
        <Row>
          {entries.map(({ name, title, href }) => (
            <LinkButton key={name} isSmall href={href}>
              {title}
            </LinkButton>
          ))}
        </Row>
      )}
    </Card>
  )
}
