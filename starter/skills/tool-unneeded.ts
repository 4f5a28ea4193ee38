/** What people say that needs no tool, whatever tools there are. */
export const greetings = [
  '[hi|hello|hey|good morning|good evening|good afternoon|greetings|howdy|hi there|hello there|hey there|hiya|good day|yo][!|.|| again|, Odyssey|, assistant|, you|!!]',
  "[hi|hello|hey][,|!|] [how are you|how are things|nice to meet you|are you there|anyone there|what's up|how is it going|good to see you][?|!||.]",
]

export const productQuestions = [
  {
    asks: [
      '[what is|which is|tell me|give me|I need|what] the [base URL|base url|base address|address] [for|of] [the |an |]OpenAI [SDK|client|format|library|clients][?||.]',
      '[where do I point|which URL do I give|what do I set as base URL in] [the|an|my] OpenAI [SDK|client|library][| at| to]?',
    ],
    answer: 'The base URL for OpenAI clients is http://127.0.0.1:8080/v1.',
    fact: 'http://127.0.0.1:8080/v1',
  },
  {
    asks: [
      '[what is|which is|tell me|give me|I need|what] the [base URL|base url|base address|address] [for|of] [the |an |]Anthropic [SDK|client|format|library|clients][?||.]',
      '[where do I point|which URL do I give|what do I set as base URL in] [the|an|my] Anthropic [SDK|client|library][| at| to]?',
    ],
    answer: 'The base URL for Anthropic clients is http://127.0.0.1:8080, without /v1.',
    fact: 'http://127.0.0.1:8080',
  },
  {
    asks: [
      '[which|what] models [do you have|are there|does Odyssey have|does Odyssey offer|are available|can I use|exist][?||.]',
      '[list|name|tell me|show me] [the|all|your|all the] [models|model names|available models][| of Odyssey|, please| please]',
    ],
    answer: 'Odyssey has three models: hal-1.0, clarke-1.0 and tycho-1.0.',
    fact: 'hal-1.0',
  },
  {
    asks: [
      '[how do I|how can I|how to|tell me how to] [start|run|launch] [Odyssey|the service|the server|it][?||.]',
      '[what is|which is|give me] the command [to start|for starting|that starts] [Odyssey|the service|the server][?||.]',
    ],
    answer: 'Start Odyssey with `npm start`.',
    fact: 'npm start',
  },
  {
    asks: [
      '[how do I|how can I|how to|where can I] [create|make|get|add] [a|a new|another|one more] [API key|key|api key][?||.]',
      '[I need|give me|I want] [a new|another] [API key|key|api key][.||, how?| please]',
    ],
    answer: 'Create a key with `odyssey keys create --name <name>`.',
    fact: 'odyssey keys create',
  },
]

export const offDomain = [
  '[what is|tell me|do you know|name] the [capital|population|history|currency|president|largest city|flag] of {country}[?||.]',
  '[who is|who was|tell me about|what do you know about] {person}[?||.]',
  '[when|where] was {person} born[?||]',
  '[explain|tell me about|describe|what do you know about|write an essay about|write a poem about] {concept}[.||, please| to me| in detail]',
  '[how would you explain|what is meant by|teach me] {concept}[?||]',
  '[write|compose|invent] [a poem|a story|a song|a joke|an essay|a haiku] about [{country}|{person}|{concept}][.|| please|, please]',
  "[what is|what's] your [opinion on|view of|take on] [{country}|{person}|{concept}][?||]",
]
