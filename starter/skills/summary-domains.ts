/** A kind of report: texts that all hold the same facts, and the one sentence that sums them up. */
export type Domain = { readonly slots: readonly string[]; readonly texts: readonly string[]; readonly summary: string }

/** The slots are drawn in summarize.ts. */
export const domains: readonly Domain[] = [
  {
    slots: ['person', 'topic', 'day', 'company'],
    texts: [
      '{person} [led|opened|ran] the meeting at {company}. [Most of the time|The whole hour] [went to|was spent on] {topic}. {filler} The [next meeting is|group meets again] on {day}.',
      'At {company}, the team [met|sat down] to [talk about|discuss] {topic}. {person} [took the notes|was in the chair|led the talk]. {filler} [They meet again|The next round is] on {day}.',
      '{filler} The [subject|main point] of the meeting at {company} was {topic}, and {person} [led it|chaired it]. [Another meeting|The follow-up] is set for {day}.',
    ],
    summary: '{person} led a meeting on {topic} at {company}; the next one is on {day}.',
  },
  {
    slots: ['product', 'city', 'day', 'person'],
    texts: [
      'Dear {person}, [your|the] {product} has left our [warehouse|store]. {filler} It [will arrive|should arrive|is due] in {city} on {day}.',
      '[Hello|Hi] {person}, [good news|an update]: the {product} is on its way to {city}. {filler} [Expect it|It will be there] on {day}.',
      '{filler} The {product} that {person} ordered [was handed to the driver|is on the truck]. The [address is in|parcel goes to] {city}, and delivery is [planned for|on] {day}.',
    ],
    summary: 'The {product} for {person} will arrive in {city} on {day}.',
  },
  {
    slots: ['project', 'person', 'percent', 'day'],
    texts: [
      '[Project update|Update]: {project} is {percent} percent [done|complete|finished]. {filler} {person} [leads the work|is in charge] and [plans|expects] to finish on {day}.',
      'The {project} project [is moving on|goes on]. {person} [reports|says] that {percent} percent is done. {filler} The [end date|deadline] is {day}.',
      '{filler} {person} [gave a report on|spoke about] {project}: {percent} percent of the work is [behind us|finished]. [Completion is expected|It should end] on {day}.',
    ],
    summary: '{project}, led by {person}, is {percent} percent done and due on {day}.',
  },
  {
    slots: ['system', 'time', 'minutes', 'fault'],
    texts: [
      'At {time} the {system} [went down|stopped answering|failed]. {filler} The [cause|reason] was {fault}. [After {minutes} minutes everything was back|It took {minutes} minutes until it was back].',
      '[Incident report|Incident]: the {system} was [down|unavailable] for {minutes} minutes. It [began|started] at {time}. {filler} We [found|traced it to] {fault}.',
      '{filler} [Users|Customers] could not reach the {system} from {time} on. The team found {fault} and [fixed it|solved it] after {minutes} minutes.',
    ],
    summary: 'The {system} was down for {minutes} minutes from {time} because of {fault}.',
  },
  {
    slots: ['event', 'city', 'day', 'amount'],
    texts: [
      'The {event} [comes|returns] to {city} this year. {filler} It [takes place|is held] on {day}, and tickets cost {amount}.',
      '[Save the date|Mark your calendars]: on {day} the {event} [opens|takes place] in {city}. {filler} [A ticket is|Entry costs] {amount}.',
      '{filler} For {amount} you can [join|visit] the {event}. It is on {day} in {city}.',
    ],
    summary: 'The {event} is in {city} on {day}, and a ticket costs {amount}.',
  },
  {
    slots: ['person', 'from', 'to', 'day'],
    texts: [
      '{person} is [packing|getting ready]. {filler} On {day} the [train|plane] leaves {from}, and it [goes to|ends in] {to}.',
      '[The tickets are booked|The plan is made]: {person} [goes|travels] from {from} to {to}. The trip [starts|begins] on {day}. {filler}',
      '{filler} {person} wanted to see {to} for years. On {day} [it is time|the journey begins], [starting|leaving] from {from}.',
    ],
    summary: '{person} travels from {from} to {to} on {day}.',
  },
  {
    slots: ['company', 'quantity', 'products', 'amount'],
    texts: [
      '{company} [needed|wanted] new things for the office. {filler} It [bought|ordered] {quantity} {products} and paid {amount}.',
      '[Purchase report|Purchase]: {quantity} {products} for {company}. The [total|bill] was {amount}. {filler}',
      '{filler} The [order|purchase] came to {amount}. For that, {company} [got|received] {quantity} {products}.',
    ],
    summary: '{company} bought {quantity} {products} for {amount}.',
  },
  {
    slots: ['person', 'job', 'company', 'day'],
    texts: [
      '{person} has [found|taken] a new job. {filler} From {day} on, {company} is the [employer|place to be], and the [role|post] is {job}.',
      '{company} [has a new|welcomes a new] {job}. {person} [starts|begins] on {day}. {filler}',
      '{filler} After [a long search|many interviews], {company} chose {person} as {job}. The first day [is|will be] {day}.',
    ],
    summary: '{person} starts as {job} at {company} on {day}.',
  },
  {
    slots: ['city', 'weather', 'degrees', 'weekday'],
    texts: [
      '[Bring|Pack] the right clothes: in {city} there will be {weather} on {weekday}. {filler} The [high|temperature] is {degrees} degrees.',
      'The [forecast|outlook] for {city}: {weather} on {weekday}. [It will reach|We expect] {degrees} degrees. {filler}',
      '{filler} On {weekday}, {city} [can expect|will see] {weather}. [Thermometers show|It gets up to] {degrees} degrees.',
    ],
    summary: '{city} expects {weather} and {degrees} degrees on {weekday}.',
  },
  {
    slots: ['city', 'city2', 'score', 'person'],
    texts: [
      '{city} [played|met] {city2} [last night|yesterday]. {filler} The [match|game] ended {score} for {city}, and {person} scored the [last|winning] goal.',
      '[It was a big night for {city}|{city} celebrates]: a {score} win over {city2}. {person} [scored|shot] the winning goal. {filler}',
      '{filler} {person} [decided|won] the match with a late goal. {city} [beat|won against] {city2} {score}.',
    ],
    summary: '{city} beat {city2} {score}, and {person} scored the winning goal.',
  },
  {
    slots: ['company', 'city', 'day', 'quantity'],
    texts: [
      '{company} [is growing|keeps growing]. {filler} On {day} it [opens|will open] a new office in {city}, with [room|desks] for {quantity} people.',
      'A new office [for|of] {company} [opens|will open] in {city}. {quantity} people will work there. [The opening is|Doors open] on {day}. {filler}',
      '{filler} The {quantity} people at the new {company} office in {city} [start|begin] on {day}.',
    ],
    summary: '{company} opens an office for {quantity} people in {city} on {day}.',
  },
  {
    slots: ['person', 'product', 'company', 'amount'],
    texts: [
      '{person} [was not happy with|had trouble with] the {product}. {filler} {company} took it back and [refunded|paid back] {amount}.',
      'The {product} [broke|failed] after a week, and {person} [wrote|complained] to {company}. {filler} The refund was {amount}.',
      '{filler} {company} [has agreed|agreed] to a refund of {amount}. {person} [had sent back|returned] the {product}.',
    ],
    summary: '{company} refunded {person} {amount} for the {product}.',
  },
  {
    slots: ['street', 'city', 'day', 'roadCause'],
    texts: [
      '{street} in {city} is [closed|blocked]. {filler} The [reason|cause] is {roadCause}. It [opens|will open] again on {day}.',
      '[Drivers|Cyclists] in {city} need [patience|another way]: because of {roadCause}, {street} [is closed|stays closed] until {day}. {filler}',
      '{filler} Because of {roadCause}, nobody can use {street} in {city}. [From|On] {day} it is open again.',
    ],
    summary: '{street} in {city} is closed until {day} because of {roadCause}.',
  },
  {
    slots: ['person', 'amount', 'goal', 'city'],
    texts: [
      '{person} [collected|raised] money in {city}. {filler} In the end it was {amount}, [all of it|every bit] for {goal}.',
      '{amount} for {goal}: that is what {person} [collected|raised] in {city}. {filler}',
      '{filler} [People|Neighbours] in {city} gave {amount}. {person} had asked them to [help|support] {goal}.',
    ],
    summary: '{person} raised {amount} for {goal} in {city}.',
  },
]

/** Sentences that say nothing a summary needs. */
export const fillers: readonly string[] = [
  '[The mood was good|Everybody was in a good mood|People were in good spirits].',
  '[There was coffee and cake|There was tea|Somebody had brought biscuits] [for all|as well|too].',
  '[It had been|This was] [a long week|a busy month|a quiet morning|an ordinary day].',
  '[Nobody|No one] was surprised[ by that| at all|].',
  '[Some|A few] [details|smaller points|questions] [are still open|will follow later|remain].',
  '[Many|Several|A few] people [asked about it|had waited for this|took part in the talk].',
  '[As always|As usual|Once again], [there was a lot to do|time was short|everyone helped].',
  '[We thank|Thanks go to|A word of thanks to] everybody [who helped|for their patience|involved].',
  '[More news|More information|Further details] [will follow soon|can be found on the website|will come by mail].',
  '[It is not the first time|This has happened before|It was the talk of the day].',
  '[The preparations|The plans] [took some time|had been going on for weeks|are not new].',
  '[Not everyone|Not everybody] [had expected that|knew about it|agreed at first].',
]
