/** The one page for everything that is refused. The id is ours, so nothing in it comes from outside. */
export function refusedPage(requestId: string): string {
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Could not sign you in</title>' +
    '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head><body>' +
    '<h1>We could not sign you in</h1><p>Ask the administrators of your organization, and name this request: ' +
    `<code>${requestId}</code>.</p><p><a href="/login">Try again</a></p></body></html>`
  )
}
