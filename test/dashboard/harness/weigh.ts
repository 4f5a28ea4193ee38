import type { Opened } from './open-dashboard.ts'

export type Weighed = { readonly bytes: number; readonly files: readonly string[] }
export type Scales = { readonly weigh: (visit: () => Promise<unknown>) => Promise<Weighed> }

/** Weighs what a browser that has kept nothing is sent for a page, answers of the API left out. */
export async function openScales({ page, context, origin }: Opened): Promise<Scales> {
  const devtools = await context.newCDPSession(page)
  await devtools.send('Network.enable')
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true })
  let files = new Map<string, number>()
  const addresses = new Map<string, string>()
  devtools.on('Network.requestWillBeSent', ({ requestId, request }) => addresses.set(requestId, request.url))
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const { protocol, pathname } = new URL(addresses.get(requestId) ?? origin)
    // A picture that is written out in a style sheet is no file of its own.
    if (protocol !== 'data:' && !/^\/(?:api\/|v1\/|readyz$)/.test(pathname)) files.set(pathname, encodedDataLength)
  })
  return {
    async weigh(visit) {
      files = new Map()
      await visit()
      const bytes = [...files.values()].reduce((sum, size) => sum + size, 0)
      return { bytes, files: [...files].map(([path, size]) => `${path} ${size}`) }
    },
  }
}
