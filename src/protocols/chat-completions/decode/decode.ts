import type { AnswerEncoder, Protocol, ShapedRequest } from '../../protocol.ts'
import type { FormatSettings } from '../../format.ts'
import { parseBody } from '../../parse-body.ts'
import type { AnswerShape } from '../encode/answer-shape.ts'
import { decodeMessages } from './decode-messages.ts'
import { decodeOutput } from './decode-settings.ts'
import { decodeThinking, hidesThinking } from './decode-settings.ts'
import { decodeLogprobs, decodeOutputLimits, decodeSampling, decodeStops } from './decode-settings.ts'
import { decodeTools } from './decode-tools.ts'
import { encodeAnswer } from '../encode/encode-answer.ts'
import { encodeStream } from '../encode/encode-stream.ts'
import { encodeError, encodeStreamError, wordFault } from '../error.ts'
import { refuseFields } from './refused-fields.ts'
import { chatBodySchema } from './schema.ts'

export function createChatCompletionsProtocol({ readFingerprint }: Pick<FormatSettings, 'readFingerprint'>): Protocol {
  // A swap of weights changes it, so each answer asks anew.
  const createEncoder = (shape: unknown) =>
    encoderOf({ ...(shape as RequestShape), systemFingerprint: readFingerprint() })
  return {
    decode(body) {
      const { shape, ...decoded } = decodeShaped(body)
      return { ...decoded, encoder: createEncoder(shape) }
    },
    decodeShaped,
    createEncoder,
    count: null,
    encodeError,
    encodeStreamError,
    ping: null,
  }
}

/** What the request itself says. */
type RequestShape = Omit<AnswerShape, 'systemFingerprint'>

function decodeShaped(wireBody: unknown): ShapedRequest {
  const body = parseBody(chatBodySchema, wireBody, wordFault)
  refuseFields(body)
  const { tools, toolChoice, isLegacy } = decodeTools(body)
  const shape: RequestShape = {
    includesUsage: body.stream_options?.include_usage ?? body.usage?.include ?? false,
    hidesThinking: hidesThinking(body),
    textTools: new Set(tools.filter(({ input }) => input === 'text').map(({ name }) => name)),
    isLegacy,
  }
  return {
    request: {
      model: body.model,
      ...decodeMessages(body),
      tools,
      toolChoice,
      thinking: decodeThinking(body),
      output: decodeOutput(body),
      sampling: decodeSampling(body),
      ...decodeOutputLimits(body),
      stopSequences: decodeStops(body),
      includesStopSequence: body.include_stop_str_in_output ?? false,
      logprobsTop: decodeLogprobs(body),
      choiceCount: body.n ?? 1,
    },
    isStream: body.stream ?? false,
    shape,
  }
}

function encoderOf(shape: AnswerShape): AnswerEncoder {
  return {
    encodeStream: (events, meta) => encodeStream(events, meta, shape),
    encodeAnswer: (answers, meta) => encodeAnswer(answers, meta, shape),
  }
}
