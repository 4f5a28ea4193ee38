import { useEffect, useState } from 'react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import type { Schemas } from '../api/types.ts'
import { plainName } from '../format/id.ts'
import type { IconName } from '../kit/icons.tsx'
import { pagePath } from './paths.ts'
import { useReason } from './session.ts'

type Result = Schemas['SearchResults']['data'][number]
export type FoundThing = {
  readonly label: string
  readonly said: string
  readonly icon: IconName
  readonly href: string
}

/** Typing rests this long before the service is asked. */
const restMs = 150
/** One letter is in nearly every name. */
const lettersMin = 2

/** What of the organization is called so, as the service finds it: keys, members, projects, and a request by its id. */
export function useFound(organizationId: string | null, typed: string): readonly FoundThing[] {
  const wanted = typed.trim()
  const asked = useRested(wanted)
  const mayAsk = useReason(organizationId ?? '', 'organizations:read') === null && organizationId !== null
  const query = useQuery({
    queryKey: ['search', organizationId, asked],
    queryFn: ({ signal }) =>
      api(
        'GET /api/v1/organizations/{organizationId}/search',
        { params: { organizationId: organizationId ?? '' }, query: { q: asked } },
        { signal },
      ),
    // A request's whole id leads there without being looked for.
    enabled: mayAsk && asked.length >= lettersMin && !asked.startsWith('req_'),
    placeholderData: keepPreviousData,
  })
  if (organizationId === null || wanted.length < lettersMin || query.data === undefined) return []
  const things = query.data.data.map((found) => describe(found, organizationId))
  // What was found for the letters before is no answer to these, but as far as it has them too.
  const isOfBefore = asked !== wanted || query.isPlaceholderData
  return isOfBefore ? things.filter((thing) => hasLetters(thing, wanted)) : things
}

function hasLetters({ label, said }: FoundThing, wanted: string): boolean {
  return `${label} ${said}`.toLowerCase().includes(wanted.toLowerCase())
}

function useRested(text: string): string {
  const [rested, setRested] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), restMs)
    return () => clearTimeout(timer)
  }, [text])
  return rested
}

function describe({ kind, id, name, detail }: Result, organizationId: string): FoundThing {
  const label = plainName(name)
  switch (kind) {
    case 'api-key':
      return {
        label,
        said: `Key …${detail ?? ''}`,
        icon: 'key',
        href: pagePath('key', { organizationId, apiKeyId: id }),
      }
    case 'member':
      return {
        label,
        said: detail ?? 'Member',
        icon: 'users',
        href: pagePath('member', { organizationId, memberId: id }),
      }
    case 'project':
      return { label, said: 'Project', icon: 'folder', href: `${pagePath('keys', { organizationId })}?project=${id}` }
    case 'request':
      return { label: id, said: 'Request', icon: 'list', href: pagePath('request', { organizationId, requestId: id }) }
  }
}
