import { howTo, tellAbout, whatIs, whether } from '../../words/topics-asking.ts'
import { topic, type Topic } from './topic.ts'

/** What a request can ask for. */
export const features: readonly Topic[] = [
  topic(
    'streaming',
    [
      whether('[stream|stream answers|stream tokens|send a stream|support streaming|do streaming|support SSE]'),
      howTo(
        '[stream|stream an answer|stream answers|get a stream|enable streaming|turn on streaming|use streaming|read the answer token by token]',
      ),
      tellAbout('streaming', 'streams', 'server-sent events', 'stream: true', 'streamed answers'),
      'How do I know [that|whether|when] a stream is [complete|finished|whole|done]?',
    ],
    'Set "stream": true. An answer is complete only with data: [DONE], or message_stop in the messages format.',
    ['"stream": true', '[DONE]', 'message_stop'],
  ),
  topic(
    'thinking',
    [
      howTo(
        '[turn|switch] [on|off] [thinking|reasoning]',
        '[turn|switch] [thinking|reasoning] [on|off]',
        '[enable|disable|control|limit] [thinking|reasoning|the thinking budget]',
        'make [the model|it|hal-1.0|clarke-1.0] [think|think first|stop thinking]',
        'set the [reasoning effort|thinking budget]',
      ),
      whether(
        'think before it answers',
        'switch thinking off',
        'support [thinking|reasoning|extended thinking|reasoning_effort]',
      ),
      tellAbout(
        'thinking',
        'reasoning_effort',
        'the thinking budget',
        'extended thinking',
        'reasoning effort',
        'thinking on and off',
      ),
      '[Which|What] [field|option|parameter] [controls|turns on|turns off|sets] thinking?',
    ],
    'Set `reasoning_effort` (or `thinking` in the messages format); `none` turns thinking off. It is on by default only for hal-1.0.',
    ['reasoning_effort', 'thinking', 'hal-1.0'],
  ),
  topic(
    'where the thinking stands',
    [
      'Where [is|do I find|do I see|can I read] the [thinking|reasoning|thoughts][ in the answer| of hal-1.0| text|]?',
      '[Which|What] field [holds|carries|contains|has] the [thinking|reasoning|thoughts]?',
      howTo('[read|see|get|show] the [thinking|reasoning] [text|of the model|content]'),
      tellAbout('reasoning_content', 'reading the thinking', 'thinking blocks'),
    ],
    'In chat completions the thinking is in message.reasoning_content; in the messages format it is a thinking block of its own.',
    ['reasoning_content', 'thinking block'],
  ),
  topic(
    'tools',
    [
      whether(
        '[call tools|use tools|call functions|support tools|support function calling|support tool calls|do function calling|do tool calling]',
      ),
      howTo(
        '[use tools|call tools|define tools|declare a tool|do function calling|use function calling|pass tools|add tools to a request]',
      ),
      tellAbout('tools', 'tool calls', 'function calling', 'tool_choice', 'tool calling', 'parallel tool calls'),
      '[Are tool calls|Is function calling|Are tools] [supported|possible|available]?',
    ],
    'Yes: pass `tools` in either format, with any tool_choice. The arguments always follow the schema of the tool.',
    ['`tools`', 'tool_choice', 'schema'],
  ),
  topic(
    'JSON output',
    [
      whether(
        '[answer in JSON|return JSON|give JSON|produce structured output|support structured output|support JSON mode|support a JSON schema|do structured outputs]',
      ),
      howTo(
        '[get|force|request|ask for|receive|enforce] [JSON|JSON output|structured output|an answer in JSON|valid JSON|JSON that follows a schema]',
        'use [response_format|JSON mode|structured outputs|a JSON schema for the answer]',
      ),
      tellAbout(
        'JSON output',
        'structured output',
        'JSON mode',
        'response_format',
        'structured outputs',
        'json_schema',
      ),
      '[Is|Are] [JSON output|structured output|JSON mode|structured outputs] [supported|possible|available]?',
    ],
    'Set `response_format` of type json_object or json_schema (`output_config.format` in the messages format). The answer is then valid JSON and nothing else.',
    ['response_format', 'json_schema'],
  ),
  topic(
    'prompt caching',
    [
      whether('[cache prompts|support prompt caching|support cache_control|do prompt caching|cache my prompt]'),
      howTo(
        '[use|enable|switch on] [prompt caching|cache_control|the prompt cache]',
        'cache [a prompt|my prompts|the system prompt]',
      ),
      tellAbout('prompt caching', 'cache_control', 'the prompt cache', 'cached tokens'),
      'Why are [cached tokens|the cached tokens|cache reads] [zero|0|always zero]?',
    ],
    'Prompt caching is accepted but not there yet: cached tokens are reported as zero.',
    ['accepted', 'zero'],
  ),
  topic(
    'log-probabilities',
    [
      whether(
        '[return|give|report|support] [logprobs|log-probabilities|log probabilities|token probabilities|top_logprobs]',
      ),
      howTo(
        '[get|read|request|ask for] [logprobs|log-probabilities|log probabilities|token probabilities|the top logprobs]',
      ),
      tellAbout('logprobs', 'log-probabilities', 'top_logprobs', 'token probabilities', 'log probabilities'),
    ],
    'Set `logprobs` to true and `top_logprobs` to at most 20.',
    ['logprobs', 'top_logprobs', '20'],
  ),
  topic(
    'images',
    [
      whether(
        '[see|read|accept|take|understand|describe|handle|process] [images|pictures|photos|screenshots|an image]',
        'support [images|vision|image input|multimodal input]',
        '[generate|make|draw|create] [images|pictures]',
      ),
      howTo('[send|upload|attach|pass] [an image|images|a picture|a photo|a screenshot]'),
      tellAbout('images', 'vision', 'image input', 'pictures', 'image support'),
      '[Are images|Is vision|Is image input] [supported|possible|available]?',
    ],
    'Images are not supported yet: they are answered with a 400 that names the field.',
    ['not supported', '400'],
  ),
  topic(
    'the seed',
    [
      howTo(
        '[get|have] [the same answer|reproducible answers|deterministic answers|the same answer twice]',
        '[set|use|fix] [a seed|the seed]',
        'make answers [reproducible|deterministic|repeatable]',
      ),
      whether('[support|honour] [a seed|seeds|the seed]', 'give reproducible answers'),
      tellAbout('the seed', 'reproducible answers', 'determinism', 'engine.reproducible', 'seeds'),
    ],
    'Set `seed` in the request. For the same answer also under load switch on `engine.reproducible` in odyssey.json.',
    ['seed', 'reproducible'],
  ),
  topic(
    'the length of answers',
    [
      whatIs(
        'the [longest answer|maximum answer length|most output tokens|output limit|maximum of max_tokens]',
        'the [limit|maximum] of output tokens',
      ),
      'How [long|many tokens] can [an answer|the answer|the output] be?',
      howTo('[limit|cap|raise|set] the [length of an answer|answer length|output tokens|max_tokens]'),
      tellAbout('max_tokens', 'the output limit', 'outputTokensMax', 'output tokens'),
    ],
    'An answer may hold 64,000 tokens by default; `max_tokens` sets less for a request, and `outputTokensMax` in odyssey.json the limit of a model.',
    ['64,000', 'max_tokens', 'outputTokensMax'],
  ),
]
