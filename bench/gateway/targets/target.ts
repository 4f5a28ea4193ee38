/** Something that chat completions are asked of. All of them run at the same time and are asked in turn. */
export type Target = {
  readonly name: string
  /** Of chat completions, the path included. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly model: string
  /** What it has used so far; null where that cannot be told, or is not the target's own. */
  use(): Promise<TargetUse | null>
  /** What there is to say of it when all is measured and so many requests were sent; null for nothing. */
  report(sent: number): Promise<string | null>
  stop(): Promise<void>
}

export type TargetUse = { readonly cpuMs: number; readonly peakBytes: number }

export const model = 'clarke-1.0'
export const completionsPath = '/v1/chat/completions'
