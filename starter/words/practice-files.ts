import { tool } from '../skills/tool-plan.ts'

const texts = [
  tool('store_text', 'Stores a text in a file.', 'file|path|filename: path; text|content: text', [
    '[store|put|keep|dump] [the text |the words |]"{text}" [in|into] {file}',
    '{file} should hold "{text}"',
    '"{text}" [goes|belongs] into {file}',
  ]),
  tool('overwrite_file', 'Replaces all that a file holds.', 'path|file|filename: path; content|text|new_text: text', [
    'overwrite {path} with "{content}"',
    '[write|put|save] only "{content}" [into|in] {path}',
    '{path} should say nothing but "{content}"',
  ]),
  tool('new_text_file', 'Makes a new file with a text.', 'filename|path|file: path; content|text|body: text', [
    '[make|create|start|write] a [new |]file [called |named |]{filename} [holding|saying|that says] "{content}"',
    '[make|create|write] {filename} with "{content}" in it',
    'a new file, please: {filename}, with the content "{content}"',
  ]),
  tool('create_page', 'Creates a page of the wiki.', 'page|path|name: slug; text|content|body: text', [
    '[create|make|write|start] the page {page} with the [text|content] "{text}"',
    'the wiki needs a page {page}: {text}',
    '[write|put|save] "{text}" on the page {page}',
  ]),
  tool('save_script', 'Saves a shell script.', 'path|file|to: path; script|command|code: command', [
    '[save|write|store|put] `{script}` [to|in|as|into] {path}',
    '[make|create] the script {path} with [the command |]`{script}`',
  ]),
  tool(
    'send_file',
    'Sends a file to a person.',
    'file|path|attachment: path; to|person|recipient: email',
    ['[send|mail|forward] {file} to {to}', '[send|mail] {to} the file {file}', '{to} [needs|wants] {file}, send it'],
    'send',
  ),
  tool('print_text', 'Prints a text on paper.', 'text|content: text; printer|device|on: slug', [
    'print "{text}" on {printer}',
    '[put|get] "{text}" on paper with {printer}',
    'on {printer}, print this: {text}',
  ]),
  tool(
    'rename_folder',
    'Gives a folder another name.',
    'from|folder|old_name: folder; to|new_name|name: folder',
    ['rename {from} to {to}', '?could {from} be renamed to {to}', 'the folder {from} is called {to} now'],
    'rename',
  ),
  tool(
    'move_picture',
    'Puts a picture somewhere else.',
    'picture|source|image: image; into|target|folder: folder',
    [
      'move [the picture |]{picture} to {into}',
      '{picture} belongs into {into}, move it',
      '?could {picture} be moved into {into}',
    ],
    'move',
  ),
  tool('restore_file', 'Brings a deleted file back.', 'path|file: path; from|backup: folder', [
    '[restore|bring back] {path} from {from}',
    '{path} is gone, get it from {from}',
  ]),
]

const code = [
  tool(
    'fork_branch',
    'Makes a git branch out of another.',
    'branch|new_branch|name: slug; from?|base|parent: slug',
    [
      '[fork|split off|branch] {branch}[| from {from}| off {from}]',
      'I need a branch {branch}[| off {from}| from {from}]',
      '?can {branch} be a branch[| of {from}]',
    ],
    'fork',
  ),
  tool('rename_branch', 'Renames a git branch.', 'branch|old_name: slug; name|new_name: slug', [
    'rename the branch {branch} to {name}',
    'the branch {branch} should be {name}',
  ]),
  tool('push_branch', 'Pushes a git branch.', 'branch|name: slug; remote?|to: word', [
    'push [the branch |]{branch}[| to {remote}]',
    '[publish|upload] the branch {branch}[| to {remote}]',
  ]),
  tool('open_pull_request', 'Asks for a git branch to be merged.', 'branch|head|source: slug; base?|into|to: slug', [
    '[open|create|file|make] a pull request [for|of|from] {branch}[| into {base}]',
    'I want {branch} to be reviewed and merged[| into {base}]',
  ]),
  tool('start_worktree', 'Checks a branch out in a folder of its own.', 'branch|name: slug; folder|path: folder', [
    '[start|make|create] a worktree [of|for] {branch} in {folder}',
    'branch {branch} out into {folder}',
  ]),
  tool(
    'reboot_machine',
    'Boots a machine again.',
    'machine|host|name: service',
    [
      '[reboot|bounce|restart] [the machine |the host |]{machine}[| now| at once]',
      '{machine} is stuck, boot it again',
      '?could {machine} be rebooted',
    ],
    'restart',
  ),
  tool('reload_config', 'Makes a service read its settings again.', 'service|app|name: service', [
    '[reload|refresh] the [settings|config] of {service}[| now]',
    '{service} has new settings, make it read them',
  ]),
  tool(
    'read_journal',
    'Shows the journal of a host.',
    'host|machine|name: service; entries?|lines|count: integer 5 200',
    [
      '?what is in the journal of {host}',
      '?what does the journal of {host} say',
      '[show|tail|print|get] the [|last {entries} ]entries of the journal of {host}',
    ],
  ),
  tool('read_mailbox', 'Shows the mails of a mailbox.', 'mailbox|box|address: email; limit?|count|last: integer 2 60', [
    '?what is in the mailbox of {mailbox}',
    '[show|get|read] the [|last {limit} ]mails of {mailbox}',
    '?are there [new |]mails for {mailbox}',
  ]),
  tool(
    'grep_folder',
    'Finds a word in the files of a folder.',
    'word|text|term: word; folder|path|where: folder',
    [
      'grep [for |]{word} in {folder}',
      '[find|search] {word} [in|under|below] {folder}',
      '?which files under {folder} [have|hold|mention] {word}',
    ],
    'search',
  ),
]

/** Tools for practice alone, as in practice-verbs.ts: for texts, files, code and machines. */
export const filePracticeTools = [...texts, ...code]
