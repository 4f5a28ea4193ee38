import { Component, type ReactNode } from 'react'
import { Button } from '../kit/button.tsx'
import { Page } from '../kit/page.tsx'
import type { PageAddress } from '../lib/location.ts'

type Props = { readonly place: PageAddress; readonly children: ReactNode }

/** Keeps the shell where a page breaks while it is drawn, and says so in the page's stead until another one is gone to. */
export class PageBoundary extends Component<Props, { readonly isBroken: boolean }> {
  override readonly state = { isBroken: false }

  static getDerivedStateFromError() {
    return { isBroken: true }
  }

  override componentDidUpdate({ place }: Props) {
    if (this.state.isBroken && place !== this.props.place) this.setState({ isBroken: false })
  }

  override render() {
    if (!this.state.isBroken) return this.props.children
    return (
      <Page title="This page broke">
        <p role="alert">Something failed in the page itself. What was saved before is saved; what was typed is lost.</p>
        <div>
          <Button onClick={() => window.location.reload()}>Load it anew</Button>
        </div>
      </Page>
    )
  }
}
