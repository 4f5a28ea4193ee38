/** Something that chat completions are asked of. All of them run at the same time and are asked in turn. */
export type Target = {
  readonly name: string
  /** The address of chat completions, the path included. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly model: string
  /**
   * Processor time so far, and the peak of memory since the last look (elsewhere than on Linux: so far).
   * Null where they cannot be told, or are not the target's own.
   */
  use(): Promise<TargetUse | null>
  /** A remark once all is measured and `sent` requests are answered; null for none. */
  report(sent: number): Promise<string | null>
  stop(): Promise<void>
}

export type TargetUse = { readonly cpuMs: number; readonly peakBytes: number }

export const model = 'clarke-1.0'
export const completionsPath = '/v1/chat/completions'
