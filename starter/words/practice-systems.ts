import { tool } from '../skills/tool-plan.ts'

const files = [
  tool(
    'append_to_file',
    'Adds a line of text at the end of a file.',
    'file|path|filename: path; line|text|content: text',
    [
      '[append|add] "{line}" [to|at the end of] {file}',
      'add the line "{line}" to [the file |]{file}',
      '{file} needs one more line: {line}',
    ],
  ),
  tool('replace_text', 'Replaces a word in a file.', 'path|file: path; old|search: word; new|replacement: word', [
    'replace {old} [with|by] {new} in {path}',
    '[change|turn] {old} into {new} in the file {path}',
    'in {path}, put {new} where it says {old}',
  ]),
  tool('copy_file', 'Copies a file.', 'source|from|path: path; destination|to|copy: path', [
    'copy {source} to {destination}',
    '[make|put] a copy of {source} [as|at|in] {destination}',
  ]),
  tool('compare_files', 'Shows what differs between two files.', 'first|a|left: path; second|b|right: path', [
    "?what's the difference between {first} and {second}",
    '[compare|diff] {first} [and|with] {second}',
  ]),
  tool('save_snippet', 'Saves a piece of text under a name.', 'name|title|label: slug; text|snippet|content: text', [
    '[save|keep|store|write] "{text}" [as|under] {name}',
    'the snippet {name} is "{text}"',
  ]),
  tool('search_notes', 'Searches the notes for a word.', 'text|word|query: word; notebook?|folder|in: slug', [
    '[search|look for|find] {text} in [my|the|our] notes[| in the notebook {notebook}]',
    '?which [of my |]notes [have|say|mention|are about] {text}[| in the notebook {notebook}]',
  ]),
  tool('search_mail', 'Searches the mailbox for a word.', 'text|word|query: word; sender?|from: person', [
    '[search|look for|find] {text} in [my|the] [mail|mails|mailbox][| from {sender}]',
    '?which mails [have|say|mention|contain] {text}[| from {sender}]',
  ]),
  tool('search_code', 'Searches the code for a word.', 'symbol|word|pattern: word; directory?|folder|path: folder', [
    '[grep|look|search] the code for {symbol}[| in {directory}| below {directory}]',
    '?where [do we use|is there] {symbol} in the code[| in {directory}| of {directory}]',
  ]),
  tool('find_file', 'Finds where a file lies.', 'name|filename: file; folder?|start|root: folder', [
    '?where is the file {name}[| below {folder}]',
    '[find|locate] the file {name}[| below {folder}| in {folder}]',
  ]),
  tool('make_folder', 'Makes a folder.', 'path|folder|directory: folder', [
    '[make|create|add] [the folder|a folder|the directory] {path}',
    'I need the folder {path}',
  ]),
  tool('download_file', 'Downloads a file from the web.', 'url|link|address: url; path?|save_as|to: path', [
    '[download|get|load] [the file |]{url}[| to {path}| and save it as {path}]',
  ]),
  tool('count_lines', 'Counts the lines of a file.', 'path|file: path', [
    '?how [many lines does {path} have|long is the file {path}]',
    'count the lines [of|in] {path}',
  ]),
]

const servers = [
  tool('get_errors', 'Gets the latest errors of a service.', 'service|app|name: service; count?|last: integer 2 90', [
    '?what went wrong in {service}',
    '[show|get|print|give me] the [|last {count} ]errors [of|in|from] {service}',
    '?[are there|were there] errors in {service}',
  ]),
  tool('search_logs', 'Searches the logs of a service for a word.', 'service|app: service; text|word|pattern: word', [
    '[search|grep] the logs of {service} for {text}',
    '?does {text} [stand|appear] in the logs of {service}',
  ]),
  tool('get_uptime', 'Tells how long a service has been running.', 'service|app|name: service', [
    '?how long has {service} been [up|running]',
    '[show|get|tell me] the uptime of {service}',
  ]),
  tool('get_metrics', 'Gets the load of a service.', 'service|app|name: service; minutes?|window: integer 5 90', [
    '?how busy is {service}',
    '[show|get|print] the [load|metrics] of {service}[| over the last {minutes} minutes]',
  ]),
  tool('stop_service', 'Stops a service.', 'service|app|name: service; force?: flag with force/without force', [
    '[stop|shut down|switch off|kill] [the service |]{service}[| {force}]',
    '{service} should not run any more[|, stop it {force}]',
  ]),
  tool(
    'rollback_service',
    'Brings a service back to an earlier version.',
    'service|app: service; version|to: version',
    ['[roll|bring|set] {service} back to [version |]{version}', '{service} worked in {version}, go back to that'],
  ),
]

const repositories = [
  tool('delete_branch', 'Deletes a git branch.', 'branch|name: slug; force?: flag with force/without force', [
    '[delete|remove|drop] [the |the git |]branch {branch}[| {force}]',
    'the branch {branch} is merged, delete it[| {force}]',
  ]),
  tool('switch_branch', 'Changes to another git branch.', 'branch|name: slug', [
    '[check out|switch to|change to|go to] [the |]branch {branch}',
    'I want to work on the branch {branch}',
  ]),
  tool('merge_branch', 'Merges a git branch into another.', 'source|from|branch: slug; target|into|base: slug', [
    'merge [the branch |]{source} into {target}',
    'bring [the branch |]{source} into {target}',
    '{target} [needs|should get] the commits of {source}',
  ]),
  tool('compare_branches', 'Shows what differs between branches.', 'base|from: slug; branch|head: slug', [
    '?what does the branch {branch} have that {base} has not',
    'compare [the branch |]{branch} with {base}',
  ]),
  tool('create_tag', 'Puts a git tag on a commit.', 'tag|name: slug; branch?|at|from: slug', [
    '[tag|mark] the release {tag}[| from {branch}]',
    '[make|set|create] [a|the] tag {tag}[| on {branch}| from {branch}]',
  ]),
  tool('clone_repository', 'Clones a git repository.', 'url|repository: url; folder?|into|path: folder', [
    'clone {url}[| into {folder}| to {folder}]',
    '[get|check out] the repository {url}',
  ]),
]

/** The same for files, servers and code. */
export const systemPracticeTools = [...files, ...servers, ...repositories]
