/** A region that stands in the page from its beginning: screen readers say what changes in one, and pass over one that comes with its words. */
const region = document.getElementById('voice')

/** Between two sentences, so that the same one is a change as well. */
const restMs = 50
/** Nobody who reads the page is to come across it later. */
const staysMs = 5_000

let timer: ReturnType<typeof setTimeout> | undefined

/** Says a sentence to who listens to the page, and shows nothing. A later sentence takes the place of an earlier one. */
export function say(words: string): void {
  const put = (text: string) => region?.replaceChildren(text)
  clearTimeout(timer)
  put('')
  timer = setTimeout(() => {
    put(words)
    timer = setTimeout(put, staysMs, '')
  }, restMs)
}

/** Says what a filter has left, while the focus is among the filters. */
export function sayToWhoFilters(words: string): void {
  if (document.activeElement?.closest('[role="search"]')) say(words)
}
