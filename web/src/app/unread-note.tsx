import { Banner } from '../kit/page.tsx'

/** Says which values of the address are not known, so that nobody takes what is shown for what a link asked for. */
export function UnreadNote({ unread }: { readonly unread: readonly string[] }) {
  if (unread.length === 0) return null
  return (
    <Banner kind="warn">
      The address has a value for {unread.join(', ')} that is not known here; the usual one is shown.
    </Banner>
  )
}
