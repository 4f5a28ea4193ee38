import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { noteInput } from './api/client.ts'
import { App } from './app/app.tsx'
import { findPage } from './app/paths.ts'
import { preferences } from './app/preferences.ts'
import { askEarly } from './app/early-session.ts'
import { loadInside, loadPage } from './app/router.tsx'
import { toLogin } from './app/to-login.ts'
import { loadAnew, location } from './lib/location.ts'
import { routes } from './app/route-table.ts'
import './styles/tokens.css'
import './styles/base.css'

/** After this the frame is shown, though the page's own part is still on its way. */
const patienceMs = 150

preferences.apply()
for (const input of ['pointerdown', 'keydown'] as const) window.addEventListener(input, noteInput, { passive: true })

const page = findPage(window.location.pathname)
void show()

// Nothing here waits at the top: pages are made of what is in this file, so it has to be whole before they come.
async function show(): Promise<void> {
  const ready = begin().catch(() => loadAnew(location.current()))
  await Promise.race([ready, new Promise((resolve) => setTimeout(resolve, patienceMs))])
  const container = document.getElementById('root')
  if (container === null) throw new Error('The page has no place for the dashboard.')
  const root = createRoot(container)
  const render = () =>
    root.render(
      <StrictMode>
        <App />
      </StrictMode>,
    )
  render()
  // What came late is shown as soon as it is here.
  await ready
  render()
}

async function begin(): Promise<void> {
  if (page !== null && routes[page.name].needs === 'public') return loadPage(page.name)
  const session = askEarly()
  // Where nobody has signed in before, nobody may have now: then the larger part of the program is not needed yet.
  if (preferences.current().organizationId === null && (await session) === null) return toLogin(location.current())
  await (page === null ? loadInside() : loadPage(page.name))
}
