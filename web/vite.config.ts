import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { guidesPlugin } from './guides/guides-plugin.ts'

/** What the program begins with and the pages before signing in are made of, in one file: each more costs a journey. */
const front =
  /\/node_modules\/(?:react|react-dom|scheduler)\/|\/web\/src\/(?:main\.|api\/(?!types)|kit\/(?:button|field|icons|link|page|skeleton)\.|styles\/|lib\/(?:location|search-codec|voice)\.|app\/(?:app|early-session|front-page|new-credential|paths|preferences|route-table|router|shell\.module|shown|sign-in-form|sign-in-news|to-login|use-answer)\.)/

function isOfFront(id: string): boolean {
  return front.test(id.replaceAll('\\', '/'))
}

/**
 * What every page inside is made of, and the look of all of them, in one file of each kind. What layers are made of
 * comes later than any page, as does what has to be asked for, and what one page alone is made of comes with it.
 */
const inside =
  /\/node_modules\/@tanstack\/(?!.*\/(?:queriesObserver|useQueries)\.)|\/web\/src\/(?:app\/(?!(?:api-calls|key-list|keys\/(?:create-key-drawer|rules-fields)|limits\/ask-drawer|palette|proof-form|prove-by-passkey|use-found|still-in|closed-organization)\.)(?!(?:audit\/(?!queries|action-words)|docs\/|members\/|prices\/|service-accounts\/|weights\/)[^.]+\.tsx?$)|charts\/(?!waterfall\.tsx)|format\/|lib\/)|\/web\/src\/kit\/(?!layer-parts)|\/web\/src\/pages\/.*\.css/

function isOfInside(id: string): boolean {
  return inside.test(id.replaceAll('\\', '/')) && !isOfFront(id)
}

/** Where a service runs that the development server passes requests on to. */
const service = process.env['ODYSSEY_URL'] ?? 'http://127.0.0.1:8080'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), guidesPlugin()],
  build: {
    target: 'es2023',
    // The content policy has no `data:` for fonts and styles, and every file is to be cached by itself.
    assetsInlineLimit: 0,
    // Every browser that runs the rest knows module preloads.
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'front', test: isOfFront, priority: 2 },
            { name: 'inside', test: isOfInside, priority: 1 },
            // A part of one page, and the last step of the setup: in one file, since a page may fetch only so many.
            { name: 'models', test: /\/web\/src\/(?:app\/weights|pages\/models)\// },
            // What changes a member or an account of a program, with the two pages of each, for the same reason.
            { name: 'members', test: /\/web\/src\/(?:app|pages)\/members?\/(?!.*\.css)/ },
            { name: 'service-accounts', test: /\/web\/src\/(?:app|pages)\/service-accounts?\/(?!.*\.css)/ },
          ],
        },
      },
    },
    // What is bundled is passed on with the package, and its licences with it.
    license: { fileName: 'licences.md' },
  },
  server: { proxy: { '/api': service, '/v1': service, '/readyz': service } },
})
