import { useState } from 'react'
import { Button } from './button.tsx'

const saidForMs = 2_000

/** Copies a text and says so. Where the browser gives no clipboard, as on plain HTTP, the text is shown to be copied by hand. */
export function CopyButton({
  text,
  name = 'Copy',
  of,
  isSmall = true,
  onCopied,
}: {
  readonly text: string
  readonly name?: string
  /** What of, for who hears it: several may stand on a page. */
  readonly of?: string
  readonly isSmall?: boolean
  readonly onCopied?: () => void
}) {
  const [said, setSaid] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
      onCopied?.()
    } catch {
      setSaid('Select the text and copy it')
    }
    setTimeout(() => setSaid(''), saidForMs)
  }
  const shown = said === '' ? name : said
  return (
    <>
      <Button
        isSmall={isSmall}
        icon={said === 'Copied' ? 'check' : 'copy'}
        aria-label={of && `${shown} ${of}`}
        onClick={() => void copy()}
      >
        {shown}
      </Button>
      {/* Inside the button it would be left out of the button's name, which some browsers would then have none of. */}
      <span className="unseen" role="status">
        {said}
      </span>
    </>
  )
}
