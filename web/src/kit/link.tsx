import type { AnchorHTMLAttributes, MouseEvent } from 'react'
import { location } from '../lib/location.ts'

type Props = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> & { readonly href: string }

/** A link to a page of the dashboard. What it leads to is fetched as soon as the reader is about to follow it. */
export function Link({ href, onClick, ...rest }: Props) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event)
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    if (!isPlain || event.defaultPrevented) return
    event.preventDefault()
    void location.go(href)
  }
  return (
    <a
      {...rest}
      href={href}
      onClick={follow}
      onPointerEnter={() => location.warm(href)}
      onFocus={() => location.warm(href)}
    />
  )
}
