/** An address with scheme and host, as requests to proxies have it. */
const absoluteForm = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

/**
 * The path that a request means, unescaped and without its query.
 *
 * Routes are found by what a path means, however it is written; so has to be what is said when none is found.
 */
export function pathOf(url: string): string {
  const [path = ''] = url.replace(absoluteForm, '').split('?', 1)
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch {
    // Half an escape: it means nothing, and no route is found for it.
    return path
  }
}
