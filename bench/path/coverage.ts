/** What was called, and how often. */
export type Called = { readonly file: string; readonly name: string; readonly calls: number }

/** V8's count of calls in the files below `source`, through the inspector of a running process. */
export class Coverage {
  readonly #socket: WebSocket
  readonly #source: string
  #id = 0
  readonly #waiting = new Map<number, (result: unknown) => void>()

  private constructor(socket: WebSocket, source: string) {
    this.#socket = socket
    this.#source = source
    socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown }
      if (id !== undefined) this.#waiting.get(id)?.(result)
    })
  }

  static async open(url: string, source: string): Promise<Coverage> {
    const socket = new WebSocket(url)
    await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }))
    const coverage = new Coverage(socket, source)
    await coverage.#send('Profiler.enable')
    await coverage.#send('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    return coverage
  }

  /** What was called since the last time. */
  async take(): Promise<Called[]> {
    type Script = {
      url: string
      functions: { functionName: string; ranges: { count: number; startOffset: number }[] }[]
    }
    const { result } = (await this.#send('Profiler.takePreciseCoverage')) as { result: Script[] }
    return result
      .filter(({ url }) => url.startsWith(this.#source))
      .flatMap(({ url, functions }) =>
        functions.map(({ functionName, ranges: [range] }) => ({
          file: url.slice(this.#source.length),
          name: functionName === '' ? `at ${range?.startOffset}` : functionName,
          calls: range?.count ?? 0,
        })),
      )
      .filter(({ calls }) => calls > 0)
  }

  #send(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#id
    this.#socket.send(JSON.stringify({ id, method, params }))
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }
}
