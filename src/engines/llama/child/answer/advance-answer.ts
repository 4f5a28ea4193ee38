import type { FinishReason } from '../../../../core/generation.ts'
import type { LogitIndex } from '../native.ts'
import type { Task } from '../task.ts'

/**
 * Chooses an answer's next token and makes it what is computed next, with what the engine puts behind it.
 *
 * Returns why the answer ends there; null while it goes on.
 */
export async function advanceAnswer(task: Task, logit: LogitIndex): Promise<FinishReason | null> {
  if (task.isAborted || task.chooser === null) return null
  if (task.outputTokensMax === 0) return { kind: task.limitKind }
  const { token, logprob } = await task.chooser.choose(logit)
  task.speculator?.observe(token)
  const wasAnswering = task.writer.isAnswering
  const steered = wasAnswering ? task.steering.take(token, task.chooser) : { text: null, tokens: [token] }
  const reason = task.writer.accept(token, logprob, steered.text)
  if (reason !== null) return reason
  if (task.writer.usage().output >= task.outputTokensMax) return { kind: task.limitKind }
  const closing = task.mustCloseThinking() ? task.closeThinkingTokens : []
  if (closing.length > 0) task.writer.closeThinking()
  const gap = !wasAnswering && task.writer.isAnswering ? task.steering.beginAnswer(task.chooser) : []
  // The engine's own closing ends with the gap already.
  task.pending = Uint32Array.of(...steered.tokens, ...closing, ...(closing.length > 0 ? [] : gap))
  return null
}
