import { useEffect } from 'react'
import { findPage } from './paths.ts'
import { routes } from './route-table.ts'
import { loadedInside, usePlace, useProgress } from './router.tsx'
import { Shown } from './shown.tsx'
import styles from './shell.module.css'

export function App() {
  const isLoading = useProgress()
  return (
    <>
      {isLoading && <div className={styles.progress} />}
      <Current />
    </>
  )
}

/** The page that the address means: one for everybody, or one inside, for who has signed in. */
function Current() {
  const { path } = usePlace()
  const page = findPage(path)
  const isPublic = page !== null && routes[page.name].needs === 'public'
  // A guide puts its own there.
  const title = isPublic && page.name !== 'docsGuide' ? routes[page.name].title : null
  useEffect(() => {
    if (title !== null) document.title = `${title} · Odyssey`
  }, [title])
  if (isPublic) return <Shown name={page.name} params={page.params} />
  const Inside = loadedInside()
  return Inside === null ? null : <Inside />
}
