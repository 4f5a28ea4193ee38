import { howTo, tellAbout, whatIs } from '../../words/topics-asking.ts'
import { topic, type Topic } from './topic.ts'

function purpose(name: string): readonly string[] {
  return [
    `[What|What exactly] is ${name}[ for| good for| good at| meant for| made for| best at|]?`,
    `[When|For what|Why] [should|do|would|can] I use ${name}?`,
    `[Tell me about|Explain|Describe|Tell me more about|Say something about|Introduce] ${name}[.|, please.|]`,
    `[What does|What can] ${name} do[ best| well|]?`,
    `[Which|What] [tasks|jobs|work|requests] [suit|fit|are for|should go to] ${name}?`,
    `[What kind of|What sort of|Which kind of] model is ${name}?`,
    `[What's|What is] [the purpose|the point|the strength|the use] of ${name}?`,
    `${name}[?||: what is it?|: what for?]`,
  ]
}

function contextWindow(name: string): readonly string[] {
  return [
    whatIs(
      `the [context window|context length|context size|window|maximum context|token window|context limit] of ${name}`,
      `${name}'s [context window|context length|window|context size]`,
    ),
    `How [large|big|long|wide] is the [context window|context|window] of ${name}?`,
    `How many tokens [fit into|can I send to|does the context hold in|go into] ${name}?`,
    `How [long|big] [can|may] a [prompt|document|conversation|text] for ${name} be?`,
    `How much [context|text] [does ${name} take|can ${name} read|fits into ${name}]?`,
    `${name} [context window|context length|context size|window size|max tokens of context]`,
  ].flat()
}

/** The three models and which weights answer for them. */
export const models: readonly Topic[] = [
  topic(
    'hal-1.0',
    purpose('[hal-1.0|hal-1.0|hal-1.0|hal|HAL]'),
    'hal-1.0 is for reasoning: it thinks before it answers. Its window is 250,000 tokens.',
    ['hal-1.0', 'reasoning', '250,000'],
  ),
  topic(
    'clarke-1.0',
    purpose('[clarke-1.0|clarke-1.0|clarke-1.0|clarke|Clarke]'),
    'clarke-1.0 is the production default, for everyday work and long documents. Its window is 1,000,000 tokens.',
    ['clarke-1.0', 'default', '1,000,000'],
  ),
  topic(
    'tycho-1.0',
    purpose('[tycho-1.0|tycho-1.0|tycho-1.0|tycho|Tycho]'),
    'tycho-1.0 is fast and cheap, for short tasks. Its window is 125,000 tokens.',
    ['tycho-1.0', 'fast', '125,000'],
  ),
  topic(
    'the context window of hal-1.0',
    contextWindow('[hal-1.0|hal-1.0|hal]'),
    'The context window of hal-1.0 is 250,000 tokens.',
    ['hal-1.0', '250,000'],
  ),
  topic(
    'the context window of clarke-1.0',
    contextWindow('[clarke-1.0|clarke-1.0|clarke]'),
    'The context window of clarke-1.0 is 1,000,000 tokens.',
    ['clarke-1.0', '1,000,000'],
  ),
  topic(
    'the context window of tycho-1.0',
    contextWindow('[tycho-1.0|tycho-1.0|tycho]'),
    'The context window of tycho-1.0 is 125,000 tokens.',
    ['tycho-1.0', '125,000'],
  ),
  topic(
    'the context windows of the models',
    [
      whatIs(
        'the [context windows|context lengths|windows|context sizes] of [the models|all models|the three models|your models|Odyssey]',
      ),
      'How [large|big|long] are the [context windows|windows|contexts][ of the models|]?',
      '[Which|What] model has the [largest|biggest|longest|widest] [context window|window|context]?',
      '[Which|What] model [reads|takes|is for] the longest [documents|texts|prompts]?',
    ],
    'hal-1.0 holds 250,000 tokens, clarke-1.0 1,000,000 and tycho-1.0 125,000.',
    ['250,000', '1,000,000', '125,000'],
  ),
  topic(
    'the models and their differences',
    [
      'Which models [are there|does Odyssey have|do you have|can I use|are available|does Odyssey offer|exist|do you offer|are served]?',
      '[Which|What] model [should I use|should I choose|should I pick|do I choose|is right for me|is the best|do you recommend|is the default|is the fastest|is the cheapest|fits my task]?',
      "[What is|What's|Explain|Tell me] the difference between [the models|hal-1.0 and clarke-1.0|clarke-1.0 and tycho-1.0|hal-1.0 and tycho-1.0|hal, clarke and tycho|the three models|hal and clarke|clarke and tycho|tycho and hal].",
      'How do [the models|the three models|hal, clarke and tycho|hal and tycho|clarke and hal|tycho and clarke] [differ|compare]?',
      '[hal-1.0|clarke-1.0|tycho-1.0|hal|clarke|tycho] or [hal-1.0|clarke-1.0|tycho-1.0|clarke|tycho][?|, which one?|, which should I take?]',
      whatIs('the [model names|names of the models|available models|models of Odyssey|list of models]'),
      '[List|Name|Compare|Show me] the [models|three models|available models].',
      howTo('[choose|pick|decide on] [a|the right] model'),
    ],
    'hal-1.0 is for reasoning, clarke-1.0 is the production default, and tycho-1.0 is fast and cheap for short tasks.',
    ['hal-1.0', 'clarke-1.0', 'tycho-1.0', 'reasoning', 'default', 'fast'],
  ),
  topic(
    'installing real weights',
    [
      howTo(
        '[install|download|get|fetch|pull|load|add] [real weights|better weights|weights|proper weights|large weights|the weights|model weights|a real model|a bigger model|a better model|a larger model]',
        '[download|fetch|pull] [weights|a GGUF|a model] from [a hub|Hugging Face|the hub|a URL|the internet]',
        'replace [the built-in model|the small model|the placeholder|the built-in weights]',
        'get [better|good|smarter|real] answers[ from Odyssey| here|]',
        'use models pull',
      ),
      '[Where|From where] do I [get|download] [weights|real weights|a real model|better weights]?',
      'Your answers are [bad|poor|too simple|not good]. [What can I do?|How do I get better ones?]',
      '[What|Which] command [downloads|installs|pulls|fetches] [weights|a model|real weights]?',
      tellAbout('real weights', 'installing weights', 'odyssey models pull', 'downloading weights', 'the pull command'),
    ],
    'Run `npx odyssey models pull clarke-1.0 <owner/repo/file.gguf>`. It fetches a GGUF file from a hub or a URL.',
    ['odyssey models pull', 'GGUF'],
  ),
  {
    ...topic(
      'installing real weights for {model}',
      [
        howTo(
          '[install|download|get|fetch|pull|load] [real weights|better weights|weights|the weights|a GGUF|a bigger model] for {model}',
        ),
        '[Install|Download|Get|Pull] [weights|real weights] for {model}[.|, please.]',
        '[What|Which] command [downloads|installs|pulls] weights for {model}?',
      ],
      'Run `npx odyssey models pull {model} <owner/repo/file.gguf>`. It fetches a GGUF file from a hub or a URL.',
      ['odyssey models pull {model}', 'GGUF'],
    ),
    slots: { model: ['hal-1.0', 'clarke-1.0', 'tycho-1.0'] },
  },
  topic(
    'using a local GGUF file',
    [
      howTo(
        '[use|load|run|serve|map|set up] [a local GGUF|a GGUF file|my own GGUF|a GGUF on my disk|a local GGUF file|a GGUF I already have|my GGUF file|weights that are already on the disk|a model file on my disk|local weights|my own weights]',
        'point [a model|clarke-1.0|hal-1.0|tycho-1.0] at a [GGUF file|local file|file on the disk]',
      ),
      'I [have|downloaded|already have] a [GGUF|GGUF file|.gguf file][ on my disk| here| locally|]. [How do I use it?|What now?|How do I load it?|Where does it go?]',
      whatIs('the command for [a local GGUF file|local weights|a file on the disk]'),
      'Can I [use|load|run] [my own GGUF|a local GGUF file|my own weights|local weights]?',
      tellAbout('local GGUF files', 'odyssey models use', 'my own GGUF', 'weights on my disk'),
    ],
    'Run `npx odyssey models use clarke-1.0 /path/to/file.gguf`. It maps a GGUF file on the disk to the model.',
    ['odyssey models use', 'GGUF'],
  ),
  topic(
    'choosing weights',
    [
      '[Which|What] [weights|GGUF|GGUF file|open model|open weights|quantization] [should I choose|should I use|do you recommend|should I install|are good|suit my machine|fit my memory|do I need|are the best|should I pull]?',
      howTo('[choose|pick|select|decide on] [weights|the right weights|a GGUF|good weights|the weights]'),
      '[Recommend|Suggest] [weights|a GGUF|good weights|some weights][ for Odyssey| for my machine|].',
      tellAbout('choosing weights', 'which weights to choose', 'recommended weights'),
    ],
    'docs/models.md says which weights to choose. Take a GGUF file that fits your memory and whose chat template carries tool calls.',
    ['docs/models.md', 'GGUF', 'memory'],
  ),
  topic(
    'the models that are loaded',
    [
      howTo(
        '[see|show|check|find out|list] [what is loaded|which models are loaded|which weights are loaded|the loaded models|the loaded weights]',
      ),
      '[Which|What] [models|weights] are [loaded|running][ right now| at the moment|]?',
      '[Show|List] the loaded [models|weights].',
      '[What|Which] command shows [what is loaded|the loaded models|the loaded weights]?',
    ],
    'Run `npx odyssey models`. It shows the models and what is loaded.',
    ['npx odyssey models', 'loaded'],
  ),
]
