type Layer = { readonly close: () => void; readonly depth: number }
type Kept = { readonly layer?: number } | null

/** Longer than any browser takes for a step back within a page. */
const backMsMax = 500

/**
 * Steps in the browser's history for what is open before a page.
 *
 * Each layer has one, at the address of the page, so that the way back closes the topmost layer and leaves the page.
 * Where a layer is closed otherwise its step is taken back, so that nobody has to go back twice.
 */
export class LayerHistory {
  #open: readonly Layer[] = []
  /** While a step is being taken back, of which the browser tells later. */
  #back: { readonly done: Promise<void>; readonly end: () => void } | null = null

  open(close: () => void): () => void {
    const layer = { close, depth: this.#open.length + 1 }
    this.#open = [...this.#open, layer]
    // A layer that follows another at once takes over its step.
    if (depthNow() < layer.depth) history.pushState({ layer: layer.depth }, '')
    return () => {
      this.#open = this.#open.filter((other) => other !== layer)
      setTimeout(() => this.#takeBack())
    }
  }

  /** Whether a step of the history meant a layer, which is closed or was, and not a page. */
  takesBack({ path, search }: { readonly path: string; readonly search: string }): boolean {
    if (this.#back !== null) {
      this.#back.end()
      // What the page has written into its address meanwhile stands at the step that is gone.
      if (window.location.pathname === path) history.replaceState(history.state, '', path + search)
      this.#takeBack()
      return true
    }
    const layer = this.#open.at(-1)
    if (layer === undefined || depthNow() >= layer.depth) return false
    layer.close()
    // A layer that asks before it closes is still open, and the next way back is for it again.
    setTimeout(() => {
      if (this.#open.includes(layer) && depthNow() < layer.depth) history.pushState({ layer: layer.depth }, '')
    })
    return true
  }

  /** Resolves when no step is being taken back any more. */
  async settled(): Promise<void> {
    // Layers that close in the same turn begin to take their steps back only after it.
    await new Promise((resolve) => setTimeout(resolve))
    while (this.#back !== null) await this.#back.done
  }

  #takeBack(): void {
    if (this.#back !== null || depthNow() <= this.#open.length) return
    let end = () => {}
    const done = new Promise<void>((resolve) => (end = resolve))
    const timer = setTimeout(() => this.#back?.end(), backMsMax)
    this.#back = {
      done,
      end: () => {
        clearTimeout(timer)
        this.#back = null
        end()
      },
    }
    history.back()
  }
}

/** How many layers the present step of the history stands for. */
function depthNow(): number {
  return (history.state as Kept)?.layer ?? 0
}
