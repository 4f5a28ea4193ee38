/** What the model does in one turn of a session. */
export type Work = 'say' | 'think' | 'read' | 'write' | 'shell' | 'several' | 'errand'

export type SessionStep =
  | { readonly kind: 'turn'; readonly work: Work }
  /** The client is gone in the midst of an answer, and its conversation is taken up again. */
  | { readonly kind: 'left'; readonly how: 'killed' | 'interrupted' }
  /** The user has the conversation shortened. */
  | { readonly kind: 'compact' }
  /** The service says that the conversation is too long, and the client shortens it by itself. */
  | { readonly kind: 'too-long' }

const usual: readonly Work[] = ['say', 'read', 'think', 'write', 'shell', 'several']

/** What comes before the turn of that number, as well as it. */
const before: Readonly<Record<number, SessionStep>> = {
  15: { kind: 'left', how: 'killed' },
  23: { kind: 'left', how: 'interrupted' },
  30: { kind: 'compact' },
  41: { kind: 'too-long' },
}

const errands: readonly number[] = [9, 36]

export const turnCount = 50

export const sessionPlan: readonly SessionStep[] = Array.from({ length: turnCount }, (_, index) => index + 1).flatMap(
  (number) => {
    const work = errands.includes(number) ? 'errand' : (usual[number % usual.length] ?? 'say')
    const extra = before[number]
    return [...(extra === undefined ? [] : [extra]), { kind: 'turn', work } as const]
  },
)
