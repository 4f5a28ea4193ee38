import type { PageName, PageParams } from './paths.ts'
import { loadedPage } from './router.tsx'
import { Skeleton } from '../kit/skeleton.tsx'

export type Found = { readonly name: PageName; readonly params: PageParams }

export function Shown({ name, params }: Found) {
  const Loaded = loadedPage(name)
  // Each record has a page of its own: nothing of one is left in the next.
  return Loaded === null ? <Skeleton /> : <Loaded key={`${name} ${Object.values(params).join(' ')}`} params={params} />
}
