import { describeServedModel } from '../../src/models/served-models.ts'
import { resolveRequest } from '../../src/inference/resolve-request.ts'
import { FakeEngine } from '../../src/engines/fake/fake-engine.ts'
import { loadNative } from '../../src/engines/llama/child/native.ts'
import { createPromptBuilder } from '../../src/engines/text/prompt/prompt-builder.ts'
import { boundaryTexts, createVocabulary } from '../../src/engines/text/vocabulary.ts'
import { compileChatTemplate } from '../../src/chat-format/chat-template.ts'
import { probeTemplate } from '../../src/chat-format/probe-template.ts'
import { deriveToolFormat } from '../../src/chat-format/tool-format/derive-tool-format.ts'
import { createMessagesProtocol } from '../../src/protocols/messages/messages-format.ts'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'

/** Makes the tokens that the placeholder weights are given for a body in the messages format. */
export type PromptReader = (body: unknown) => Promise<Uint32Array>

export async function openPromptReader(): Promise<PromptReader> {
  const native = await loadNative({
    weightsPath: placeholderPath,
    gpu: 'off',
    slots: 1,
    windowTokensMax: 512,
    threads: 1,
    batchTokens: 64,
    isReproducible: false,
    cacheBytesMax: 0,
    cacheOnDisk: null,
    draftTokensMax: 0,
  })
  const template = compileChatTemplate(native.chatTemplate ?? '', boundaryTexts(native.vocabulary))
  const toolFormat = deriveToolFormat(template.probe)
  const vocabulary = createVocabulary(native.vocabulary, {
    size: native.vocabularySize,
    markup: [],
    templateSource: template.source,
  })
  const prompts = createPromptBuilder({ template, traits: probeTemplate(template), toolFormat, vocabulary })
  const protocol = createMessagesProtocol({ signatureKey: new Uint8Array(32) })
  const model = describeServedModel('clarke-1.0', { thinking: 'off', outputTokensMax: 64_000 })
  const entry = { model, engine: new FakeEngine({ features: new Set(['tools', 'json-output']) }) }
  return async (body) => {
    const { request } = protocol.decode(body)
    const owner = { organizationId: 'org_test', apiKeyId: 'key_test' }
    const { tokens } = await prompts.build({ ...resolveRequest(request, entry), owner, requestId: 'req_test' })
    return tokens
  }
}
