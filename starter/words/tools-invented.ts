const list = (text: string): string[] => text.trim().split(/\s+/)

/** What invented tools work on. */
export const targets = list(`
  server router switch worker node database printer robot machine account profile report branch directory archive backup
  queue bucket image record table column row page site link ticket_type order_item basket payment refund wallet card
  budget_line ledger voucher_code gift bonus point_card seat gate flight room_key locker bike scooter drone camera_feed
  thermometer pump valve oven_program lesson_plan exam grade essay recipe menu shelf crate truck route stop timetable
  playlist_item song clip frame filter rule alarm_zone password token_pair secret feature_flag test_run build deployment`)

/** What people are given, in numbers. */
export const gifts = list('points credits coins tokens bonus tip shares vouchers stars vacation_days miles allowance')

/** Verbs that do not make their participle with -ed. */
export const irregular: Readonly<Record<string, string>> = {
  pay: 'paid',
  read: 'read',
  write: 'written',
  cancel: 'cancelled',
  reset: 'reset',
  send: 'sent',
  stop: 'stopped',
}

type Deed = readonly [verb: string, ways: readonly [string, ...string[]]]

/** A verb as it stands in a tool's name, and the ways people ask for it; `#` is the thing. */
export const deeds: readonly Deed[] = [
  ['restart', ['restart #', 'reboot #', 'bounce #', 'start # again', 'give # a restart']],
  ['pay', ['pay #', 'settle #', 'pay for #', 'make the payment for #']],
  ['charge', ['charge #', 'debit #', 'take the money from #']],
  ['open', ['open #', 'open up #', 'bring up #']],
  ['close', ['close #', 'shut #', 'wrap up #']],
  ['move', ['move #', 'relocate #', 'shift #', 'put # somewhere else']],
  ['copy', ['copy #', 'make a copy of #', 'duplicate #']],
  ['search', ['search for #', 'look for #', 'find #', 'search #']],
  ['read', ['read #', 'show me what is in #', 'read out #', 'print the content of #']],
  ['write', ['write #', 'write down #', 'put down #', 'save #']],
  ['create', ['create #', 'make #', 'set up #', 'add #', 'open a new one: #']],
  ['delete', ['delete #', 'remove #', 'get rid of #', 'throw away #']],
  ['register', ['register #', 'sign up #', 'enrol #', 'enter #']],
  ['cancel', ['cancel #', 'call off #', 'withdraw #', 'drop #']],
  ['reset', ['reset #', 'set # back', 'put # back to the start']],
  ['send', ['send #', 'dispatch #', 'mail #', 'get # out']],
  ['check', ['check #', 'look at #', 'have a look at #', 'see how # is doing']],
  ['list', ['list #', 'show everything in #', 'give me all of #']],
  ['count', ['count #', 'tell me how many are in #', 'get the number of entries of #']],
  ['update', ['update #', 'bring # up to date', 'refresh #']],
  ['rename', ['rename #', 'give # another name']],
  ['schedule', ['schedule #', 'plan #', 'put # on the calendar']],
  ['lock', ['lock #', 'bar #', 'lock up #']],
  ['unlock', ['unlock #', 'free #', 'release #']],
  ['start', ['start #', 'launch #', 'kick off #', 'fire up #']],
  ['stop', ['stop #', 'halt #', 'shut down #', 'kill #']],
  ['scale', ['scale #', 'resize #', 'change the size of #']],
  ['deploy', ['deploy #', 'roll out #', 'ship #', 'release #']],
  ['measure', ['measure #', 'take the reading of #', 'gauge #']],
  ['clean', ['clean #', 'clean up #', 'tidy #', 'wipe #']],
  ['repair', ['repair #', 'fix #', 'mend #']],
  ['invite', ['invite #', 'ask # to join', 'send an invitation to #']],
  ['block', ['block #', 'ban #', 'shut # out']],
  ['report', ['report #', 'file a report on #', 'hand in a report about #']],
  ['fork', ['fork #', 'branch off #', 'split off #']],
  ['watch', ['watch #', 'keep an eye on #', 'monitor #']],
  ['label', ['label #', 'tag #', 'put a label on #']],
  ['reserve', ['reserve #', 'book #', 'hold #', 'set # aside']],
]

type Detail = readonly [slot: string, names: readonly string[], kind: string, endings: string]

/** What else an invented tool may take: the parameter's names, its kind, how a request says it. */
export const details: readonly Detail[] = [
  ['to_person', ['recipient', 'person', 'assignee'], 'person', ' for {to_person}| to {to_person}'],
  ['mail', ['email', 'contact', 'address'], 'email', ' with e-mail {mail}| with the email {mail}| and mail {mail}'],
  ['amount', ['sum', 'value', 'total'], 'number 1 900', ' with the amount {amount}| for {amount}| at {amount}'],
  ['count', ['number_of', 'quantity', 'times'], 'integer 2 60', ', {count} times| with count {count}'],
  ['place', ['folder', 'directory', 'location'], 'folder', ' in {place}| under {place}| inside {place}'],
  ['target_path', ['destination', 'output', 'into'], 'path', ' into {target_path}| to {target_path}'],
  ['origin', ['base', 'source', 'from'], 'slug', ' from {origin}| based on {origin}'],
  ['reason', ['why', 'cause'], 'text', ' because "{reason}"| with the reason "{reason}"'],
  ['message', ['text', 'comment', 'note'], 'text', ' with the message "{message}"| saying "{message}"'],
  ['priority', ['urgency', 'level'], 'choice low,normal,high', ' with {priority} priority'],
  ['due', ['date', 'until', 'on_day'], 'date', ' by {due}| on {due}| until {due}'],
  ['at_time', ['time', 'hour'], 'time', ' at {at_time}'],
  ['tag', ['category', 'topic'], 'word', ' tagged {tag}| with the tag {tag}'],
  ['city', ['town', 'site_city'], 'city', ' in {city}'],
  ['currency', ['unit', 'money'], 'currency', ' in {currency}'],
  ['admin', ['is_admin', 'as_admin'], 'flag as an admin/without admin rights', ' {admin}'],
  ['force', ['forced', 'hard'], 'flag with force/without force', ' {force}'],
  ['version_tag', ['version', 'release'], 'version', ' at version {version_tag}| with version {version_tag}'],
]
