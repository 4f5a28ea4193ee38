import { launchLlamaServer } from '../../test/harness/engines/llama-server.ts'
import type { Contestant, Setting } from './contestant.ts'
import { readAnswer } from './read-answer.ts'

export type LlamaServer = { readonly name: string; readonly path: string; readonly moreArguments: readonly string[] }

/** llama.cpp's own server on the same weights, given the same and otherwise as it comes. */
export async function startLlamaServer(program: LlamaServer, setting: Setting): Promise<Contestant> {
  const { address, stop } = await launchLlamaServer(program.path, [...argumentsFor(setting), ...program.moreArguments])
  return {
    name: program.name,
    ask: ({ system, question, tokens }) =>
      readAnswer(address, 'none', {
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: question },
        ],
        // Odyssey's model does not think unless it is asked to.
        chat_template_kwargs: { enable_thinking: false },
        temperature: setting.temperature,
        // By itself it limits the choice to the likeliest tokens, where Odyssey does what is asked.
        ...(setting.temperature > 0 && { top_k: 0, top_p: 1, min_p: 0 }),
        n_predict: tokens,
        ignore_eos: true,
        cache_prompt: true,
      }),
    // It keeps no prompts on the disk by itself.
    restart: null,
    stop,
  }
}

function argumentsFor({ weightsPath, gpu, threads, slots, windowTokens, batchTokens, cacheBytes }: Setting): string[] {
  const counts = {
    // Shared evenly by the slots.
    '--ctx-size': windowTokens * slots,
    '--parallel': slots,
    ...(threads !== null && { '--threads': threads, '--threads-batch': threads }),
    '--batch-size': batchTokens,
    '--ubatch-size': batchTokens,
    '--cache-ram': Math.round(cacheBytes / 2 ** 20),
    ...(gpu === 'off' && { '--n-gpu-layers': 0 }),
  }
  return ['--model', weightsPath, ...Object.entries(counts).flatMap(([name, count]) => [name, String(count)])]
}
