import { modelIds } from '../../app/models.ts'
import { flag, oneOf, searchCodec, text, wholeNumber, type StateOf } from '../../lib/search-codec.ts'

const thinking = oneOf(['default', 'on', 'off'], 'default')
const fields = {
  format: oneOf(['messages', 'chat-completions'], 'messages'),
  model: oneOf(modelIds, 'clarke-1.0'),
  thinking,
  compare: flag,
  other: oneOf(modelIds, 'hal-1.0'),
  otherThinking: thinking,
  max: { ...wholeNumber, fallback: '1024' },
  temperature: text(),
  project: text(),
  topP: text(),
  topK: wholeNumber,
  seed: wholeNumber,
  presence: text(),
  frequency: text(),
  stops: text(),
  choice: oneOf(['auto', 'any', 'none'], 'auto'),
  cache: oneOf(['none', '5m', '1h'], 'none'),
}

/** A link carries how something is asked, and nothing of what is said. */
export const playgroundSearch = searchCodec(fields)
export type PlaygroundSearch = StateOf<typeof fields>
