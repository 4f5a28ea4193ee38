import { howTo, tellAbout, whatIs, whether } from '../../words/topics-asking.ts'
import { topic, type Topic } from './topic.ts'

/** Addresses, routes and how to prove who asks. */
export const addresses: readonly Topic[] = [
  topic(
    'the base URL for the OpenAI format',
    [
      whatIs(
        'the [base URL|base address|address|endpoint|URL|baseURL|base_url] for [the OpenAI format|OpenAI clients|the OpenAI SDK|OpenAI|OpenAI-compatible clients]',
        'the OpenAI [base URL|base address|address|endpoint|URL]',
      ),
      '[Which|What] [base URL|address|URL] do [OpenAI clients|the OpenAI SDKs|OpenAI-compatible clients|OpenAI tools] [need|use|take]?',
      'Does the [OpenAI base URL|OpenAI address|base URL for OpenAI] [end in|need|have|include] /v1?',
      '[Where|At which address] do I [reach|find] the OpenAI [API|format|endpoint]?',
    ],
    'The base URL for the OpenAI format is http://127.0.0.1:8080/v1, with /v1 at the end.',
    ['http://127.0.0.1:8080/v1', 'OpenAI'],
  ),
  topic(
    'the base URL for the Anthropic format',
    [
      whatIs(
        'the [base URL|base address|address|endpoint|URL|baseURL|base_url] for [the Anthropic format|Anthropic clients|the Anthropic SDK|Anthropic|the messages format|Claude clients]',
        'the Anthropic [base URL|base address|address|endpoint|URL]',
      ),
      '[Which|What] [base URL|address|URL] do [Anthropic clients|the Anthropic SDKs|Anthropic tools] [need|use|take]?',
      'Does the [Anthropic base URL|Anthropic address|base URL for Anthropic] [end in|need|have|include] /v1?',
      '[Where|At which address] do I [reach|find] the Anthropic [API|format|endpoint]?',
    ],
    'The base URL for the Anthropic format is http://127.0.0.1:8080, without /v1.',
    ['http://127.0.0.1:8080', 'without /v1'],
  ),
  topic(
    'the base address',
    [
      whatIs(
        'the [base URL|base address|server address|address] [of|for] [Odyssey|this server|this service]',
        '[your|the] [base URL|base address|API address|server address|API URL]',
        'the address of the API',
      ),
      '[Which|What] [address|URL] [does Odyssey listen on|does Odyssey answer on|is Odyssey at|do I connect to]?',
      'Where [does Odyssey listen|is Odyssey|do I reach Odyssey|can I reach the API|is the API]?',
      '[With|Is it with] or without /v1?',
      'When do I need /v1[ in the address| and when not|]?',
    ],
    'The address is http://127.0.0.1:8080: OpenAI clients take it with /v1, Anthropic clients without.',
    ['http://127.0.0.1:8080', 'OpenAI', 'Anthropic', '/v1'],
  ),
  topic(
    'the chat completions route',
    [
      whatIs(
        'the [route|path|endpoint|URL] [for|of] [chat completions|OpenAI chat|the chat completions API|OpenAI chat completions]',
        'the chat completions [route|path|endpoint|URL]',
      ),
      '[Which|What] [route|path|endpoint] [serves|answers|is for|do I call for] [chat completions|OpenAI chat requests]?',
      'Where do I [post|send] [chat completions|chat completion requests|an OpenAI chat request]?',
      whether('serve chat completions', 'answer chat completions', 'speak the chat completions API'),
    ],
    "OpenAI's chat completions are at POST /v1/chat/completions.",
    ['POST /v1/chat/completions'],
  ),
  topic(
    'the messages route',
    [
      whatIs(
        'the [route|path|endpoint|URL] [for|of] [the messages API|Anthropic messages|the Anthropic messages format]',
        'the messages [route|path|endpoint|URL]',
      ),
      '[Which|What] [route|path|endpoint] [serves|answers|is for|do I call for] [Anthropic messages|the messages API|Anthropic message requests]?',
      'Where do I [post|send] [Anthropic messages|an Anthropic request|requests in the messages format]?',
      whether('serve the messages API', 'answer Anthropic messages', 'speak the messages format'),
    ],
    "Anthropic's messages are at POST /v1/messages.",
    ['POST /v1/messages'],
  ),
  topic(
    'the list of models',
    [
      whatIs(
        'the [route|path|endpoint|URL] [for|of] the [list of models|model list|models list]',
        'the models [route|endpoint|path]',
      ),
      '[Which|What] [route|path|endpoint] [lists|returns|shows|gives me] [the models|all models|the available models]?',
      howTo(
        '[list|get|fetch] the [available |]models over [the API|HTTP]',
        'ask the API [which models there are|for the list of models]',
      ),
    ],
    'GET /v1/models lists the models, and GET /v1/models/{id} shows one.',
    ['GET /v1/models'],
  ),
  topic(
    'embeddings',
    [
      whether(
        '[make|do|compute|create|return|offer|support|serve] embeddings',
        'embed [text|texts|documents]',
        'serve /v1/embeddings',
      ),
      tellAbout('embeddings', '/v1/embeddings', 'the embeddings [route|endpoint|API]', 'embedding vectors'),
      howTo(
        '[get|create|make|compute] embeddings[ with Odyssey| here|]',
        'embed [a text|texts|my documents][ with Odyssey|]',
      ),
      '[Are embeddings|Is an embeddings endpoint|Is /v1/embeddings] [offered|available|supported|there]?',
      'Why [does|do] [/v1/embeddings|embeddings|the embeddings route] [answer|give|return] 404?',
    ],
    'No, Odyssey does not offer embeddings: /v1/embeddings answers 404.',
    ['/v1/embeddings', '404'],
  ),
  topic(
    'the responses API',
    [
      whether(
        '[support|offer|serve|speak] [the responses API|the OpenAI responses API|/v1/responses]',
        'serve /v1/responses',
      ),
      tellAbout('the responses API', '/v1/responses', 'the responses [route|endpoint]', 'the OpenAI Responses API'),
      howTo('use [the responses API|/v1/responses|client.responses.create][ with Odyssey| here|]'),
      '[Is the responses API|Is /v1/responses] [offered|available|supported|there]?',
      'Why [does] [/v1/responses|the responses API|client.responses.create] [answer|give|return] 404?',
    ],
    'No, Odyssey does not offer the responses API: /v1/responses answers 404. Use /v1/chat/completions.',
    ['/v1/responses', '404', '/v1/chat/completions'],
  ),
  topic(
    'counting tokens',
    [
      howTo(
        'count [tokens|the tokens|the tokens of a prompt|prompt tokens|input tokens]',
        '[know|find out|see] how many tokens a [prompt|request|message] has',
      ),
      whether('count tokens', 'tell me the token count', 'count [the tokens of a prompt|input tokens]'),
      tellAbout('token counting', 'counting tokens', 'count_tokens', 'token counts'),
      '[Which|What] [route|endpoint] counts tokens?',
    ],
    'POST /v1/messages/count_tokens counts the tokens of a prompt exactly, without an answer.',
    ['/v1/messages/count_tokens'],
  ),
  topic(
    'health checks',
    [
      howTo(
        '[check|see|test|find out] [if|whether] [Odyssey|the service|the server|it] is [healthy|ready|alive|up]',
        'monitor [Odyssey|the service|the server]',
        'do a health check',
      ),
      whatIs('the [health|readiness|liveness] [check|route|endpoint|probe|URL]', 'the endpoint for health checks'),
      tellAbout(
        'health checks',
        'the health endpoint',
        '/healthz',
        '/readyz',
        'monitoring Odyssey',
        'readiness probes',
      ),
    ],
    'GET /healthz answers 200 while the process lives; GET /readyz answers 200 when every model can answer. Neither needs a key.',
    ['/healthz', '/readyz', '200'],
  ),
  topic(
    'the header that carries the key',
    [
      '[Which|What] header [carries|takes|is for|do I use for|holds] the [key|API key]?',
      howTo(
        '[send|pass|give|present] [the|my] [key|API key][ in a request| to Odyssey|]',
        '[authenticate|authorize][ with Odyssey| my requests| against the API|]',
      ),
      tellAbout(
        'authentication',
        'the authorization header',
        'x-api-key',
        'the Authorization header',
        'the auth header',
        'API authentication',
      ),
      '[Where|In which header] do I put [the|my] [API key|key]?',
    ],
    'Send the key as Authorization: Bearer or as x-api-key; Odyssey takes both everywhere.',
    ['Authorization: Bearer', 'x-api-key'],
  ),
]
