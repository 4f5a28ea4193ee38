type Layer = { readonly close: () => void; readonly depth: number }
type Kept = { readonly layer?: number } | null

/**
 * How long a link waits for a step that is being taken back, in turns: longer than any browser takes within a page. A
 * machine that stood still meanwhile has used up one turn, however long it did.
 */
const backTurnMs = 50
const backTurns = 10

/**
 * Steps in the browser's history for what is open before a page.
 *
 * Each layer has one, at the address of the page, so that the way back closes the topmost layer and leaves the page.
 * Where a layer is closed otherwise its step is taken back, so that nobody has to go back twice.
 */
export class LayerHistory {
  #open: readonly Layer[] = []
  /** While a step is being taken back, until the browser tells of it, which may be late. */
  #back: { readonly heard: Promise<void>; readonly hear: () => void } | null = null

  open(close: () => void): () => void {
    const layer = { close, depth: this.#open.length + 1 }
    this.#open = [...this.#open, layer]
    // A layer that follows another at once takes over its step.
    this.#giveSteps()
    return () => {
      this.#open = this.#open.filter((other) => other !== layer)
      setTimeout(() => this.#takeBack())
    }
  }

  /** Whether a step of the history meant a layer, which is closed or was, and not a page. */
  takesBack({ path, search }: { readonly path: string; readonly search: string }): boolean {
    if (this.#back !== null) {
      this.#back.hear()
      this.#back = null
      // What the page has written into its address meanwhile stands at the step that is gone.
      if (window.location.pathname === path) history.replaceState(history.state, '', path + search)
      this.#takeBack()
      setTimeout(() => this.#giveSteps())
      return true
    }
    const layer = this.#open.at(-1)
    if (layer === undefined || depthNow() >= layer.depth) return false
    layer.close()
    // A layer that asks before it closes is still open, and the next way back is for it again.
    setTimeout(() => this.#giveSteps())
    return true
  }

  /** Resolves when no step is being taken back any more, or when the browser does not seem to take one. */
  async settled(): Promise<void> {
    // Layers that close in the same turn begin to take their steps back only after it.
    await pause(0)
    for (let turn = 0; this.#back !== null && turn < backTurns; turn += 1) {
      await Promise.race([this.#back.heard, pause(backTurnMs)])
    }
  }

  #takeBack(): void {
    if (this.#back !== null || depthNow() <= this.#open.length) return
    let hear = () => {}
    const heard = new Promise<void>((resolve) => (hear = resolve))
    this.#back = { heard, hear }
    history.back()
  }

  /**
   * Each open layer has a step. While one is being taken back nobody knows which are left: what opens meanwhile gets its own
   * after that.
   */
  #giveSteps(): void {
    if (this.#back !== null) return
    for (let depth = depthNow() + 1; depth <= this.#open.length; depth += 1) history.pushState({ layer: depth }, '')
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** How many layers the present step of the history stands for. */
function depthNow(): number {
  return (history.state as Kept)?.layer ?? 0
}
