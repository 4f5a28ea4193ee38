import { lazy, Suspense } from 'react'
import type { CreateKeyProps } from './create-key-drawer.tsx'

/** No page brings it along, since it comes when somebody wants a key. */
const CreateKeyDrawer = lazy(async () => ({ default: (await import('./create-key-drawer.tsx')).CreateKeyDrawer }))

/** The drawer in which a key is made, once it has come. */
export function CreateKey(props: CreateKeyProps) {
  return (
    <Suspense fallback={null}>
      <CreateKeyDrawer {...props} />
    </Suspense>
  )
}
