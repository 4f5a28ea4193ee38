import { type ToolPlan, tool } from '../skills/tool-plan.ts'

/** What a verb does to one thing that has an id; verbs in one row mean the same, so that only one of them stands in a prompt. */
const onOne = `archive | cancel,revoke | approve,accept | reject,decline | close,finish | lock | unlock | publish | delete,remove,erase
  | restore,recover | pause | resume,continue | start,launch | stop,halt | export | print | verify,validate | refresh,reload | sync
  | duplicate,copy,clone | fetch,get,lookup,show,load,inspect | hide | reset | activate,enable | disable,suspend,deactivate | submit
  | confirm | track,trace,locate | download | audit,review | mark | pin | merge | sign | renew,extend | translate | encrypt | scan
  | rate | promote | flag`

const toPerson = 'assign | share | forward,send | offer | transfer'

const many = 'search,find | list | count | summarize'

const creating = 'create,add,make,register | draft | request'

const renaming = 'rename | update,change,set'

/** Things that the hand-written tools do not deal in. */
const objects =
  `invoice contract coupon shipment subscription report document customer supplier product course lesson student
  patient prescription loan policy claim project milestone sprint bug release pipeline job cluster container volume snapshot
  certificate token session webhook campaign newsletter survey poll comment review post article chapter playlist episode podcast
  video photo album channel group member role license device sensor meter vehicle parcel pallet warehouse invoice_item receipt
  budget expense payroll holiday_request timesheet candidate interview job_offer lease property visit donation badge voucher
  workflow template form dataset model_card dashboard chart metric alert incident backup_plan firewall_rule domain_name`
    .trim()
    .split(/\s+/)

const prefixes = 'crm shop billing admin core hr app store data fleet school clinic media legal lab cloud'.split(' ')

export { prefixes as madeToolPrefixes }

const extras = [
  ['reason?|why: text', '[| because "{reason}"| with the reason "{reason}"]'],
  ['note?|comment: text', '[| with the note "{note}"| and note "{note}"]'],
  ['notify?|send_notice: flag with a notice/without a notice', '[| {notify}]'],
  ['priority?: choice low,medium,high', '[| with {priority} priority]'],
  ['date?|on|day: date', '[| on {date}]'],
  ['format?|output: choice pdf,csv,json,xml', '[| as {format}]'],
  ['user?|by|requested_by: person', '[| for {user}]'],
] as const

type Maker = (verb: string, object: string, sense: string, salt: number, said: string) => ToolPlan

const senses = (text: string) => text.split('|').map((group) => group.trim().split(','))

/** Some thousand tools: every verb with every object, so that a model has to read what is declared. */
export const madeTools: readonly ToolPlan[] = [
  ...combined(onOne, one),
  ...combined(toPerson, handedTo),
  ...combined(many, manyOf),
  ...combined(creating, created),
  ...combined(renaming, renamed),
]

function combined(groups: string, make: Maker): ToolPlan[] {
  return senses(groups).flatMap((verbs) =>
    objects.flatMap((object, at) => {
      const shift = at % verbs.length
      // Of verbs that mean the same, every object has two at most: three thousand tools suffice.
      return [...verbs.slice(shift), ...verbs.slice(0, shift)]
        .slice(0, 2)
        .map((verb, turn) => make(verb, object, `${verbs[0]} ${object}`, at + turn, inWords(verb, verbs)))
    }),
  )
}

function one(verb: string, object: string, sense: string, salt: number, said: string): ToolPlan {
  const thing = spaced(object)
  const [parameter, ending] = extras[(salt + verb.length) % extras.length] ?? extras[0]
  const extra = salt % 2 === 0
  const tail = extra ? ending : ''
  const idName = salt % 3 === 0 ? `${object}_id|id` : `id|${object}|${object}_id|number`
  const slot = salt % 3 === 0 ? `{${object}_id}` : '{id}'
  return tool(
    `${verb}_${object}`,
    `${describe(spokenVerb(verb))} ${article(thing)} ${thing}.`,
    `${idName}: id${extra ? `; ${parameter}` : ''}`,
    [
      `${said} [the |my |our |]${thing} [|number |with the id |no. |with number ]${slot}${tail}`,
      `${said} ${thing} ${slot}${tail}`,
      `${said} ${slot}[, the ${thing}|, ${article(thing)} ${thing}]${tail}`,
      `?[is it possible to|would you kindly|are you able to] ${said} ${thing} ${slot}${tail}`,
      `${thing} ${slot}: ${spokenVerb(verb)} it${tail}`,
    ],
    sense,
  )
}

function handedTo(verb: string, object: string, sense: string, salt: number): ToolPlan {
  const thing = spaced(object)
  const to = salt % 2 === 0 ? ['to|person|recipient: person', '{to}'] : ['to|email|recipient: email', '{to}']
  return tool(
    `${verb}_${object}`,
    `${describe(verb)} ${article(thing)} ${thing} to somebody.`,
    `id|${object}_id|${object}: id; ${to[0]}`,
    [
      `${verb} [the |]${thing} [|number |with the id ]{id} to {to}`,
      `${verb} ${thing} [no. |]{id} [over |]to {to}`,
      `{to} [should|must|needs to] get ${thing} {id}, ${verb} it`,
    ],
    sense,
  )
}

function manyOf(verb: string, object: string, sense: string, salt: number, said: string): ToolPlan {
  const things = plural(spaced(object))
  if (salt % 2 === 0) {
    return tool(
      `${verb}_${plural(object)}`,
      `${describe(verb)} ${things} by a search text.`,
      'query|text|keyword: query; limit?|max: integer 2 50',
      [
        `${said} ${things} [about|with|matching|for] "{query}"[|, at most {limit}|, no more than {limit}]`,
        `${said} [all |the |our |]${things} that [mention|contain|match] "{query}"[|, at most {limit}]`,
        `?which ${things} [mention|contain|match] "{query}"`,
      ],
      sense,
    )
  }
  return tool(
    `${verb}_${plural(object)}`,
    `${describe(verb)} ${things} by status.`,
    'status|state: choice open,closed,pending,active; since?|from: date',
    [
      `${said} [all |the |our |my |]{status} ${things}[| since {since}]`,
      `${said} [all |the |our |]${things} that are {status}[| since {since}]`,
      `${said} ${things} with [the |]status {status}[| since {since}]`,
    ],
    sense,
  )
}

function created(verb: string, object: string, sense: string, salt: number, said: string): ToolPlan {
  const thing = spaced(object)
  const [parameter, ending] = extras[salt % extras.length] ?? extras[0]
  return tool(
    `${verb}_${object}`,
    `${describe(verb)} ${article(thing)} ${thing}.`,
    `name|title|${object}_name: name; ${parameter}`,
    [
      `${said} [a new|another|the] ${thing} [called|named|with the name|titled] "{name}"${ending}`,
      `${said} ${article(thing)} ${thing} "{name}"${ending}`,
      `I need [a new|another] ${thing} [called|named] "{name}"${ending}, ${verb} it`,
    ],
    sense,
  )
}

function renamed(verb: string, object: string, sense: string): ToolPlan {
  const thing = spaced(object)
  if (verb === 'rename') {
    return tool(
      `rename_${object}`,
      `Renames ${article(thing)} ${thing}.`,
      `id|${object}_id|${object}: id; name|new_name|title: name`,
      [
        `rename [the |]${thing} [|number |with the id ]{id} [to|as] "{name}"`,
        `change the name of [the |]${thing} {id} to "{name}"`,
        `${thing} {id} [should be called|is now called|needs the new name] "{name}", rename it`,
      ],
      sense,
    )
  }
  return tool(
    `${verb}_${object}_status`,
    `${describe(verb)} the status of ${article(thing)} ${thing}.`,
    `id|${object}_id|${object}: id; status|new_status|state: choice open,closed,pending,active`,
    [
      `${verb} the status of [the |]${thing} [|number |with the id ]{id} to {status}`,
      `${verb} [the |]${thing} {id} to [status |]{status}`,
      `${thing} {id} is {status} now, ${verb} its status`,
    ],
    sense,
  )
}

/** Mostly the tool's own verb, now and then another one that means the same. */
function inWords(verb: string, verbs: readonly string[]): string {
  const others = verbs.filter((other) => other !== verb).slice(0, 3)
  return `[${[...Array(4).fill(verb), ...others].map(spokenVerb).join('|')}]`
}

function spokenVerb(verb: string): string {
  return verb === 'lookup' ? 'look up' : verb
}

/** "archive" as a tool's description says it: "Archives". */
export function describe(verb: string): string {
  const [first = '', ...rest] = verb.split(' ')
  const ending = /(?:s|sh|ch|x|z)$/.test(first)
    ? `${first}es`
    : /[^aeiou]y$/.test(first)
      ? `${first.slice(0, -1)}ies`
      : `${first}s`
  return [ending.slice(0, 1).toUpperCase() + ending.slice(1), ...rest].join(' ')
}

function plural(noun: string): string {
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`
  return /(?:s|sh|ch|x)$/.test(noun) ? `${noun}es` : `${noun}s`
}

function article(noun: string): string {
  return /^[aeiou]/.test(noun) ? 'an' : 'a'
}

function spaced(name: string): string {
  return name.replaceAll('_', ' ')
}
