import { howTo, tellAbout, whatIs, whether } from '../../words/topics-asking.ts'
import { topic, type Topic } from './topic.ts'

const ports =
  `3000, 3001, 3333, 4000, 4321, 5000, 5050, 5173, 6000, 7000, 7777, 8000, 8001, 8008, 8081, 8082, 8088, 8090, 8181, 8443, 8500, 8765, 8800, 8888, 9000, 9001, 9090, 9100, 9191, 9200, 9999, 10000, 11434, 12345, 18080, 20000`.split(
    ', ',
  )

/** Starting, stopping and looking after the service. */
export const operating: readonly Topic[] = [
  topic(
    'what Odyssey is',
    [
      '[What|What exactly|And what] is [Odyssey|the Odyssey service|this product|this service|Odyssey good for|Odyssey for|this software|this server]?',
      '[Explain|Describe|Introduce|Tell me about|Tell me something about|Tell me more about] [Odyssey|this service|this product|this server][.| briefly.| in one sentence.|, please.]',
      '[What does|What can] [Odyssey|this service|this server] do?',
      '[What kind of|What sort of] [software|service|product|program] is [Odyssey|this]?',
      'Why [Odyssey|should I use Odyssey|would I use Odyssey|was Odyssey made]?',
    ],
    'Odyssey is a self-hosted AI inference service: one address serves three models in the OpenAI and the Anthropic format.',
    ['self-hosted', 'three models', 'OpenAI', 'Anthropic'],
  ),
  topic(
    'the default port',
    [
      whatIs(
        'the [default port|standard port|usual port|port][ of Odyssey| of the server| Odyssey uses|]',
        'the port number of [Odyssey|the service]',
      ),
      '[Which|What] port [does Odyssey listen on|does Odyssey use|does it use|is used|is the default|does the server run on|does the service listen on]?',
      '[On which|On what] port [is Odyssey|does Odyssey run|is the server|do I reach Odyssey]?',
    ],
    'The default port is 8080.',
    ['8080', 'port'],
  ),
  topic(
    'changing the port',
    [
      howTo(
        '[change|set|choose|modify|override] the port[ of Odyssey| of the server|]',
        '[use|take|run Odyssey on|start Odyssey on|start on] [another port|a different port|some other port]',
      ),
      'Port 8080 is [taken|already in use|busy|occupied|used by something else][.|, what now?|. What do I do?]',
      'Can I [change|set|choose] the port?',
    ],
    'Set the variable PORT: `PORT=9000 npm start`. Or write `port` in odyssey.json.',
    ['PORT=9000 npm start', 'odyssey.json'],
  ),
  {
    ...topic(
      'changing the port to {port}',
      [
        howTo(
          '[change|set] the port to {port}',
          '[use|take|run Odyssey on|start Odyssey on|start the server on|listen on|run on] port {port}',
        ),
        '[Start|Run] [Odyssey|the server|it] on port {port}[.|, please.]',
        'I [want|need] [Odyssey on port {port}|the server on port {port}|port {port}][.|, how?]',
        'Can [Odyssey|it|the server] [run|listen|start] on port {port}?',
      ],
      'Set the variable PORT: `PORT={port} npm start`. Or write `port` in odyssey.json.',
      ['PORT={port} npm start', 'odyssey.json'],
    ),
    slots: { port: ports },
  },
  topic(
    'the network',
    [
      howTo(
        '[reach|use|open] Odyssey from [another machine|other machines|my phone|the network|another computer]',
        '[listen|make Odyssey listen] on [all interfaces|the network|0.0.0.0|every address]',
        '[share|offer] Odyssey [with my team|on my network|in the LAN]',
        'change the [host|HOST|listen address]',
      ),
      whatIs('the variable for the [host|listen address]'),
      tellAbout('remote access', 'the HOST variable', 'network access', 'listening on the LAN'),
    ],
    'Set HOST: `HOST=0.0.0.0 npm start`. Put a proxy with TLS in front of it, for Odyssey speaks plain HTTP.',
    ['HOST=0.0.0.0 npm start', 'TLS'],
  ),
  topic(
    'TLS',
    [
      whether('[speak|support|serve|do] [HTTPS|TLS|SSL]', 'encrypt connections', 'use a certificate'),
      howTo('[enable|set up|use|switch on|get] [HTTPS|TLS|SSL|a certificate][ for Odyssey|]'),
      tellAbout('HTTPS', 'TLS', 'SSL certificates', 'encryption of the connection'),
    ],
    'Odyssey speaks HTTP without TLS. Put a proxy with TLS in front of it.',
    ['without TLS', 'proxy'],
  ),
  topic(
    'the config file',
    [
      '[Where|In which folder] is the [config file|configuration file|configuration|config|settings file|odyssey.json]?',
      whatIs(
        'the [config file|configuration file|settings file]',
        'the [path|name|place|location] of the [config file|configuration|configuration file]',
      ),
      howTo(
        '[configure|set options for|change the settings of|change settings in] [Odyssey|the service|the server]',
        '[find|edit|write] the [config file|configuration|settings]',
      ),
      tellAbout('odyssey.json', 'the config file', 'configuration', 'ODYSSEY_CONFIG', 'the settings file'),
    ],
    'The config file is odyssey.json in the data folder, or where ODYSSEY_CONFIG says.',
    ['odyssey.json', 'data folder', 'ODYSSEY_CONFIG'],
  ),
  topic(
    'the data folder',
    [
      '[Where|In which folder] [is|does Odyssey keep|does Odyssey store|does it store|does it save] [the data|its data|my data|data|the database|the keys]?',
      '[Where|In which folder] [are|is] [the data|my data|the database|the ledger] [kept|stored|saved]?',
      whatIs('the data [folder|directory]', 'the [path|location] of the [data|database]'),
      howTo('[change|move|set] the data [folder|directory]', 'find the [database|data folder]'),
      tellAbout('ODYSSEY_HOME', 'the data folder', 'the data directory', 'odyssey.db'),
    ],
    'Data is kept in the folder data/, or where ODYSSEY_HOME says. The database is odyssey.db.',
    ['data/', 'ODYSSEY_HOME', 'odyssey.db'],
  ),
  topic(
    'backups',
    [
      howTo(
        '[back up|save|make a backup of|backup] [Odyssey|the data|my data|the database|my install|my keys]',
        'move [Odyssey|my install] to another machine',
      ),
      '[What|Which files] [should I|do I need to|must I] [back up|save]?',
      tellAbout('backups', 'secret.key', 'backing up the database', 'a backup'),
    ],
    'Back up odyssey.db together with secret.key: without it no key works.',
    ['odyssey.db', 'secret.key'],
  ),
  topic(
    'starting Odyssey',
    [
      howTo(
        '[start|run|launch|boot|bring up|fire up] [Odyssey|the service|the server|this server|it]',
        '[install|set up|deploy|get started with|begin with] Odyssey',
      ),
      '[What|Which] command [starts|runs|launches] [Odyssey|the server|the service]?',
      tellAbout('starting Odyssey', 'npm start', 'getting started', 'the first start', 'installing Odyssey'),
      '[Start|Run|Launch] [Odyssey|the server|the service].',
    ],
    'Run `npm start`. The first start installs the dependencies and prints an API key once.',
    ['npm start', 'key once'],
  ),
  topic(
    'stopping Odyssey',
    [
      howTo('[stop|shut down|quit|end|terminate|kill|exit|turn off] [Odyssey|the service|the server|this server]'),
      '[What|Which] [command|signal|key] [stops|ends|quits] [Odyssey|the server|the service]?',
      tellAbout('stopping Odyssey', 'shutting down', 'SIGTERM', 'shutdown'),
      '[Stop|Shut down|Quit] [Odyssey|the server|the service].',
      'What happens [on SIGTERM|when I stop Odyssey|when I press Ctrl-C|when the server stops]?',
    ],
    'Press Ctrl-C or send SIGTERM. Answers under way are finished; a second signal skips the wait.',
    ['Ctrl-C', 'SIGTERM'],
  ),
  topic(
    'running the tests',
    [
      howTo(
        '[run|start|execute|launch] the [tests|test suite|checks|unit tests][ of Odyssey|]',
        'test [Odyssey|the code|the install]',
      ),
      '[What|Which] command runs [the tests|all tests|the checks]?',
      tellAbout('npm test', 'running the tests', 'the test suite', 'the tests of Odyssey'),
      '[Run|Start] the [tests|test suite].',
    ],
    'Run `npm test`. It runs every check and test.',
    ['npm test'],
  ),
  topic(
    'GPU use',
    [
      whether(
        'use [a GPU|my GPU|the GPU|CUDA|Vulkan|Metal|a graphics card|my graphics card]',
        'run on [a GPU|a graphics card|CUDA|an Nvidia card]',
      ),
      howTo(
        '[use|enable|switch on|turn on|disable|turn off|switch off] [the GPU|my GPU|GPU support|CUDA|Vulkan|Metal|GPU use]',
        'run Odyssey on [a GPU|the GPU|CUDA]',
      ),
      tellAbout('GPU use', 'GPU support', 'CUDA', 'the gpu setting', 'graphics cards', 'engine.gpu'),
      'Do I need a [GPU|graphics card]?',
    ],
    'Odyssey finds the GPU by itself: `engine.gpu` in odyssey.json is `auto`, and may be `off`, `cuda`, `vulkan` or `metal`. It also runs without one.',
    ['engine.gpu', 'auto', 'cuda'],
  ),
  topic(
    'running offline',
    [
      whether(
        '[run|work] [offline|without internet|without the internet|in an air-gapped network|without a network connection]',
        'need [the internet|internet|an internet connection|a network connection]',
        'send [my data|prompts|anything] to the [internet|cloud]',
      ),
      'Do I need [the internet|internet access|an internet connection|to be online][ for Odyssey|]?',
      tellAbout('running offline', 'offline use', 'internet access', 'air-gapped machines'),
      '[Does|Do] [my data|my prompts|my texts] leave [my machine|this machine|the server|my network]?',
    ],
    'Odyssey runs offline on your machine. Only the first start and pulling weights need the internet.',
    ['offline', 'first start', 'internet'],
  ),
  topic(
    'the requirements',
    [
      whatIs(
        'the [requirements|system requirements|prerequisites|minimum requirements][ of Odyssey| for Odyssey|]',
        'the [Node version|required Node version|version of Node][ I need| for Odyssey|]',
      ),
      '[Which|What] [Node version|version of Node|Node|version of Node.js] [do I need|does Odyssey need|is required|works]?',
      'What do I need [to run Odyssey|for Odyssey|to install|before I start]?',
      whether('run on [Node 20|Node 18|Node 22|an old Node]', 'need [Docker|Python|a database]'),
      tellAbout('the requirements', 'the Node version', 'system requirements', 'prerequisites'),
    ],
    'You need any Node from version 20 and npm; nothing else.',
    ['Node from version 20', 'npm'],
  ),
  topic(
    'the licence',
    [
      whatIs('the [licence|license][ of Odyssey| of this software|]'),
      '[Under which|Under what] [licence|license] is [Odyssey|this|the code|it]?',
      'Is [Odyssey|this software|this] [open source|free|free software|free to use|licensed under Apache|MIT licensed]?',
      '[Can|May] I use Odyssey [commercially|at work|in my company|for free|in a product]?',
      tellAbout('the licence', 'the license of Odyssey', 'licensing', 'the Odyssey licence'),
      'What does Odyssey cost?',
    ],
    'Odyssey is licensed under Apache-2.0.',
    ['Apache-2.0'],
  ),
  topic(
    'the logs',
    [
      '[Where|In which place] are [the logs|Odyssey logs|the log files|the logs of Odyssey]?',
      howTo('[read|see|find|view] the [logs|log][ of Odyssey|]', '[change|set|raise|lower] the log level'),
      tellAbout('the logs', 'logging', 'the log level', 'ODYSSEY_LOG_LEVEL', 'the log of Odyssey'),
      whether('log [prompts|my prompts|answers|my messages|keys]'),
    ],
    'Logs go to standard error, one JSON object a line, without prompts, answers or keys. ODYSSEY_LOG_LEVEL sets the level.',
    ['standard error', 'ODYSSEY_LOG_LEVEL'],
  ),
  topic(
    'answers at the same time',
    [
      'How many [answers|requests|users] [at the same time|at once|in parallel|concurrently][?| can Odyssey serve?| are possible?]',
      whether('answer [several requests|many users] at [once|the same time]', 'handle [parallel|concurrent] requests'),
      tellAbout('slots', 'engine.slots', 'parallel requests', 'concurrency', 'concurrent requests'),
      howTo('[change|raise|set] the number of [slots|parallel requests|concurrent requests]'),
    ],
    'Odyssey generates 8 answers at the same time, or fewer where memory is short; `engine.slots` in odyssey.json sets it.',
    ['engine.slots', '8'],
  ),
]
