import { tool } from '../skills/tool-plan.ts'

/** Tools for files, servers, code and data. */
export const systemTools = [
  tool(
    'read_file',
    'Reads a file.',
    'path|file|filename|file_path: path',
    [
      '[read|open|show|print|show me] [the file |]{path}[| for me]',
      '?what is in [the file |]{path}',
      '[read|show|get] [me |]the [contents|text] of {path}',
    ],
    'read file',
  ),
  tool('write_file', 'Writes a text into a file.', 'path|file|filename|file_path: path; content|text: text', [
    '[write|save|put] "{content}" [to|into|in] {path}',
    '[create|write|make] [a file|the file] {path} with [the text|the content] "{content}"',
  ]),
  tool('delete_file', 'Deletes a file.', 'path|file|filename: path; force?: flag with force/without force', [
    '[delete|remove|erase] [the file |]{path}[| {force}]',
    'I no longer need {path}, delete it',
  ]),
  tool('move_file', 'Moves a file.', 'from|source: path; to|target|destination: path', [
    '[move|rename] [the file |]{from} to {to}',
    '?could {from} be moved to {to}',
  ]),
  tool(
    'list_directory',
    'Lists the files of a folder.',
    'path|directory|folder: folder; hidden?|show_hidden: flag with hidden files/without hidden files',
    [
      '[list|show|show me] the files in {path}[| {hidden}]',
      '?[what is|what files are|which files are] in [the folder |]{path}',
      '[list|ls] {path}[| {hidden}]',
    ],
  ),
  tool('run_command', 'Runs a shell command.', 'command|cmd: command', [
    '[run|execute|start] [the command |the shell command |]`{command}`',
    '?what does [the command |]`{command}` [print|say|show|return]',
    '[run|execute] this[| in the shell| in the terminal]: {command}',
  ]),
  tool('search_files', 'Searches files for a text.', 'pattern|query|text: word; path?|directory: folder', [
    '[search|grep|look] for {pattern} in the files[| in {path}| under {path}]',
    '?which files [contain|mention|have] {pattern}[| in {path}| under {path}]',
  ]),
  tool('web_search', 'Searches the web.', 'query|q|search_terms: query; limit?|max_results: integer 2 20', [
    '[search|browse] the [web|internet] for "{query}"[|, {limit} results]',
    'search the web for {query}',
    '[find|get|look up] [|{limit} ]web pages [about|on] "{query}"',
  ]),
  tool('open_url', 'Opens a web page.', 'url|address|link: url', [
    '[open|visit|fetch|load|go to] {url}',
    '?what is on [the page |]{url}',
    '[show|read] [me |]the page {url}',
  ]),
  tool('query_database', 'Runs an SQL query.', 'sql|query|statement: sql; limit?: integer 5 100', [
    '[run|execute|send] [the query |the SQL |]`{sql}`[| with a limit of {limit}]',
    '[ask|query] the database: {sql}',
  ]),
  tool(
    'deploy_service',
    'Deploys a service.',
    'service|app|name: service; environment|env|target: choice staging,production,testing; version?|tag: version',
    [
      '[deploy|release|roll out|ship] {service} [|version {version} ]to {environment}',
      '[bring|put|push] {service} [on|to|onto] {environment}',
    ],
  ),
  tool('restart_service', 'Restarts a service.', 'service|app|name: service', [
    '[restart|reboot|bounce] [the service |]{service}[| now]',
    '?{service} hangs, can you restart it',
  ]),
  tool(
    'scale_service',
    'Sets how many copies of a service run.',
    'service|app|name: service; replicas|count|instances: integer 1 20',
    [
      'scale {service} [up |down |]to {replicas}[| replicas| copies| instances]',
      '[run|start|keep] {replicas} [replicas|copies|instances] of {service}',
    ],
  ),
  tool('get_logs', 'Gets the last log lines of a service.', 'service|app|name: service; lines?|tail: integer 10 200', [
    '[show|get|give me|print] the [|last {lines} ]log lines of {service}',
    '[show|get|tail] the logs [of|from|for] {service}[|, {lines} lines]',
    '?what [do the logs of {service} say|is in the logs of {service}]',
  ]),
  tool('create_branch', 'Creates a git branch.', 'name|branch: slug; base?|from: slug', [
    '[create|make|start|open] a [git |new |]branch [called|named] {name}[| from {base}| based on {base}]',
    'branch off {name}[| from {base}]',
  ]),
  tool(
    'run_tests',
    'Runs the tests of a folder.',
    'path|directory|target: folder; verbose?: flag with details/without details',
    [
      '[run|start|execute] the tests [in|of|under] {path}[| {verbose}]',
      'test {path}[| {verbose}]',
      '?do the tests in {path} pass',
    ],
  ),
  tool(
    'create_user',
    'Creates a user account.',
    'name|username: person; email|mail: email; admin?|is_admin: flag as an admin/without admin rights',
    [
      '[create|add|make|register] [a user|an account|a user account] for {name} with [the |]email {email}[| {admin}]',
      '[sign up|register] {name} with [the email |]{email}[| {admin}]',
    ],
  ),
  tool('reset_password', 'Resets the password of a user.', 'user|username|email: email', [
    '[reset|renew] the password [of|for] {user}',
    '?{user} forgot the password, can you reset it',
    'send {user} a new password',
  ]),
  tool(
    'generate_password',
    'Makes up a random password.',
    'length: integer 8 40; symbols?|with_symbols: flag with symbols/without symbols',
    [
      '[make|create|generate|give me] a [random |]password [of|with] {length} characters[| {symbols}]',
      'I need a password with {length} characters[| {symbols}]',
    ],
  ),
  tool(
    'resize_image',
    'Resizes an image.',
    'file|path|image: image; width: integer 100 2000; height: integer 100 2000',
    ['[resize|scale] {file} to {width} [x|by|times] {height}', 'make {file} {width} [x|by] {height}[| pixels]'],
  ),
  tool(
    'create_backup',
    'Makes a backup of a folder.',
    'path|source|folder: folder; compress?: flag compressed/uncompressed',
    ['[back up|save a backup of|make a backup of] {path}[|, {compress}]', 'I need a backup of {path}[|, {compress}]'],
  ),
  tool('check_website', 'Checks whether a web site is up.', 'url|site|address: url', [
    '?is {url} [up|down|online|reachable|working]',
    '[check|see|test] [whether|if] {url} is [up|online|reachable|working]',
  ]),
]
