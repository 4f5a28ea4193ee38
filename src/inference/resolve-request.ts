import { ApiError, type ErrorPath } from '../core/error.ts'
import type { Feature } from '../core/feature.ts'
import type { EngineRequest, GenerationRequest, Message, Thinking, ThinkingChoice } from '../core/generation.ts'
import type { ServedModel } from '../core/model.ts'
import type { CatalogEntry } from '../models/catalog.ts'
import { inOrderOfCalls, withoutToolImages } from './tool-results.ts'

/**
 * Makes every choice that a request left open, and refuses what the engine cannot do.
 *
 * A feature that is lacking is refused by name: dropping it in silence would
 * answer another request than the one that was made.
 */
export function resolveRequest(
  request: GenerationRequest,
  { model, engine }: Pick<CatalogEntry, 'model' | 'engine'>,
): Omit<EngineRequest, 'owner' | 'requestId'> {
  const { features } = engine.status()
  const messages = inOrderOfCalls(features.has('images') ? request.messages : withoutToolImages(request.messages))
  requireFeatures({ ...request, messages }, features)
  const { choiceCount: _, ...rest } = request
  return {
    ...rest,
    messages,
    thinking: resolveThinking(request.thinking, model),
    outputTokensMax: Math.min(request.outputTokensMax ?? model.outputTokensMax, model.outputTokensMax),
    windowTokensMax: model.windowTokens,
  }
}

function resolveThinking(choice: ThinkingChoice, model: ServedModel): Thinking {
  switch (choice.kind) {
    case 'default':
      return model.thinkingDefault
    case 'effort':
      return model.thinkingByEffort[choice.effort]
    case 'on':
    case 'off':
      return choice
  }
}

function requireFeatures(request: GenerationRequest, available: ReadonlySet<Feature>): void {
  for (const { feature, path } of neededFeatures(request)) {
    if (!available.has(feature)) {
      throw new ApiError(
        { code: 'unsupported-feature', feature, path },
        `The model does not support ${wording[feature]} yet.`,
      )
    }
  }
}

const wording: Readonly<Record<Feature, string>> = {
  tools: 'tools',
  'generic-tools': 'tools',
  'json-output': 'structured output',
  logprobs: 'log-probabilities',
  'logit-bias': 'token biases',
  images: 'images',
  'output-min': 'a minimum number of tokens',
}

function* neededFeatures(request: GenerationRequest): Generator<{ feature: Feature; path: ErrorPath | null }> {
  const image = findBlock(request.messages, 'image')
  if (image !== null) yield { feature: 'images', path: image.path }
  if (request.tools.length > 0) yield { feature: 'tools', path: null }
  if (findBlock(request.messages, 'tool-call') !== null || findBlock(request.messages, 'tool-result') !== null)
    yield { feature: 'tools', path: ['messages'] }
  if (request.output.kind === 'json') yield { feature: 'json-output', path: null }
  if (request.logprobsTop !== null) yield { feature: 'logprobs', path: null }
  if (request.sampling.logitBias.length > 0) yield { feature: 'logit-bias', path: null }
  if (request.outputTokensMin > 0) yield { feature: 'output-min', path: null }
}

type Block = Message['content'][number]

/** The first block of a kind; no list is made of all that there are. */
function findBlock<Kind extends Block['kind']>(
  messages: readonly Message[],
  kind: Kind,
): Extract<Block, { readonly kind: Kind }> | null {
  for (const { content } of messages) {
    for (const block of content) if (block.kind === kind) return block as Extract<Block, { readonly kind: Kind }>
  }
  return null
}
