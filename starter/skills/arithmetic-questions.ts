const lead = `[|||Please |Quick question: |Hey, |Hi, |I need to know: |For my homework: |A small sum: |OK, ]`
const ask = `[what is|what's|how much is|what does|what would be|can you tell me|tell me|do you know what is|calculate|compute|work out|solve|find|give me|evaluate|figure out|let me know]`

export const sums = [
  `{a}[ + |+| plus |+ ]{b}[| =|=| = ?|?|=?| equals| is| equals what?| makes what?| is what?]`,
  `${lead}${ask} {a}[ + |+| plus | and ]{b}[?|.|| in total| together| added up| please| for me?]`,
  `${lead}[what is|what's|find|give me|calculate|compute|tell me|I want|I need|work out] the [sum|total] of {a} and {b}[?|.|]`,
  `${lead}[please |can you |could you |would you |now |]add {a} [and|to|plus] {b}[?|.|| for me| please| together]`,
  `${lead}[what do you get if|what happens when|what do I get when|what comes out if] [you|I|we] add {a} [and|to] {b}?`,
  `${lead}what [do|does|will] {a} [and|plus] {b} [make|give|add up to|come to|equal|sum to]?`,
  `{a} added to {b}[?|.|| is| equals| makes| please]`,
  `[if I have|let's say I have|suppose I have|I have] {a} and [get|add|receive|find] {b} [more|others|extra], [how many|how much|what] do I have[| in total| then| altogether]?`,
  `[increase|raise] {a} by {b}[.||, please| and tell me the result]`,
  `[how many|how much] [are|is] {a} and {b}[| together| in total| combined]?`,
]

export const differences = [
  `{a}[ - |-| minus |- ]{b}[| =|=| = ?|?|=?| equals| is| equals what?| makes what?| is what?]`,
  `${lead}${ask} {a}[ - |-| minus | take away | less ]{b}[?|.|| please| for me?]`,
  `${lead}[please |can you |could you |would you |now |]subtract {b} from {a}[?|.|| for me| please]`,
  `${lead}[please |can you |could you |now |]take {b} [away from|from|off] {a}[?|.|| for me| please]`,
  `${lead}[what do you get if|what happens when|what do I get when|what is left if|what remains when] [you|I|we] [subtract|take|deduct] {b} from {a}?`,
  `{a} [reduced|decreased|lowered] by {b}[?|.|| is| equals]`,
  `[reduce|decrease|lower] {a} by {b}[.||, please| and tell me the result]`,
  `${lead}what [is left|remains] [of {a} after taking away|when {a} loses|when {a} goes down by] {b}?`,
]

/** Only where the first number is the greater one. */
export const positiveDifferences = [
  `${lead}[what is|what's|find|give me|calculate|compute|tell me|work out] the difference [between|of] {a} and {b}[?|.|]`,
  `${lead}how much [more|greater|bigger|larger] is {a} than {b}[?|]`,
  `${lead}how much [less|smaller] is {b} than {a}[?|]`,
  `how far [apart are|is it between] {b} and {a}[| on the number line]?`,
  `[what number do I|what must I|what do I have to] add to {b} to get {a}?`,
]

const more = `[How many {things}|How many]`

export const sumStories = [
  `I have {a} {things} and [buy|get|find|pick up|am given] {b} more. ${more} do I have[| now| in total| altogether]?`,
  `{name} has {a} {things} and [buys|gets|finds|wins|is given] {b} more. ${more} does {name} have[| now| in total]?`,
  `{name} has {a} {things} and {other} has {b}. How many [do they have|{things} do they have|are there] [together|in total|altogether|combined]?`,
  `There are {a} {things} in [one box|the bag|a room] and {b} in [another|the next one|a second one]. How many [{things} |][are there|is that] in [total|all]?`,
  `A shop sells {a} {things} [on Monday|in the morning] and {b} [on Tuesday|in the afternoon]. How many [{things} |]is that [in total|together]?`,
  `{name} [reads|walks|runs|drives] {a} [pages|miles|meters] today and {b} tomorrow. How [many|far] [in total|altogether]?`,
  `[A ticket|A book|The lamp] costs {a} [dollars|euros] and [a bag|a pen|a cake] costs {b}. What do both cost[| together]?`,
  `The bus carries {a} people and {b} more get on. How many [people |]are on [the bus|it] now?`,
  `A farmer has {a} [cows|hens|goats] and {b} [sheep|pigs|ducks]. How many animals is that[| in total]?`,
  `{name} saved {a} [dollars|euros|coins] and earns {b} more. How much [money |]does {name} have[| now]?`,
  `We planted {a} {things} last year and {b} this year. How many [in all|altogether|in total]?`,
  `Yesterday there were {a} {things}, today {b} more came. How many are there[| now]?`,
  `A train has {a} seats in the first car and {b} in the second. How many seats [are there|does it have][| in total]?`,
  `One class has {a} [students|pupils|children], the other {b}. How many [students |][are there|is that] together?`,
  `{name} [scored|won] {a} points in the first game and {b} in the second. How many points [in total|altogether|is that]?`,
  `I [wrote|got|sent] {a} [emails|letters|messages] on Monday and {b} on Friday. How many [in total|altogether]?`,
  `[A server handled|The log shows] {a} requests and then {b} more. How many requests [is that|in total]?`,
  `I used {a} tokens for the prompt and {b} for the answer. How many tokens [is that|in total]?`,
  `The first shelf holds {a} {things} and the second shelf {b}. How many {things} do [they|both] hold[| together]?`,
  `{name} is {a} years old. How old will {name} be in {b} years?`,
  `[It is|The temperature is] {a} degrees and rises by {b}. How [warm|hot] is it then?`,
]

export const differenceStories = [
  `I have {a} {things} and [give away|lose|sell|break|eat] {b}. How many [{things} |][are left|do I have left|remain]?`,
  `{name} has {a} {things} and [gives {b} to {other}|loses {b}|sells {b}|throws away {b}]. How many [{things} |]does {name} have [left|now]?`,
  `{name} has {a} {things}, {other} has {b}. How many more [{things} |]does {name} have[| than {other}]?`,
  `There are {a} {things} in [the box|a bag|the shop]; {b} are [taken out|sold|removed]. How many [are left|remain|stay]?`,
  `A [book|report|story] has {a} pages. {name} has read {b}. How many pages [are left|remain|does {name} still have to read]?`,
  `[I had|There were] {a} [dollars|euros] and [I |]spent {b}. How much is left?`,
  `{a} people are on the bus and {b} get off. How many [people |][stay|are still on it|remain]?`,
  `A [rope|board|cable] is {a} [cm|meters|feet] long. I cut off {b}. How long is [it now|the rest]?`,
  `[The trip|The road|The race] is {a} [miles|kilometers] long and we have done {b}. How far is it still?`,
  `A tank holds {a} liters and {b} [leak out|are used]. How many liters are left?`,
  `[A coat|A phone|The chair] costs {a} dollars and [is reduced|drops|is discounted] by {b}. What does it cost now?`,
  `{name} needs {a} {things} and has {b}. How many [{things} |]are [missing|still needed]?`,
  `A class has {a} [students|children]; {b} are [ill|absent|away]. How many are [there|present|in class]?`,
  `The hotel has {a} rooms, {b} are [taken|booked]. How many are [free|still free]?`,
  `We baked {a} [cookies|muffins|cakes] and ate {b}. How many [are left|remain]?`,
  `I bought {a} {things}, but {b} were broken. How many are [fine|whole|good]?`,
  `[My limit|The budget|The window] is {a} tokens and I used {b}. How many [are left|remain]?`,
  `Of {a} [tests|tasks|jobs], {b} are done. How many [are left|remain|are still open]?`,
  `{a} birds sit [on a tree|on a roof] and {b} fly away. How many [birds |]are left?`,
  `A parking lot has {a} places and {b} [cars are in it|are taken]. How many places are [free|left]?`,
  `{name} is {a} years old. How old was {name} {b} years ago?`,
]

export const continuedSums = [
  `[now |and now |then |OK, now |and |please |next, ]add {b}[| to that| to it| to the result| more| on top][.||?| please]`,
  `[and |now |what is that |that |][plus|+] {b}[?||.]`,
  `[what if|and if|what happens if] [I|you|we] add {b}[| to that| to it| more]?`,
]

export const continuedDifferences = [
  `[now |and now |then |OK, now |and |please |next, ][subtract|take away|take|deduct] {b}[| from that| from it| from the result][.||?| please]`,
  `[and |now |what is that |that |][minus|-|take away|less] {b}[?||.]`,
  `[what if|and if|what happens if] [I|you|we] [subtract|take|take away] {b}[| from that| from it]?`,
]

export const nextSums = [
  `[and|now|and what is|what about|how about|then|next:|ok, and|also] {a}[ + |+| plus ]{b}[?||.]`,
]

export const nextDifferences = [
  `[and|now|and what is|what about|how about|then|next:|ok, and|also] {a}[ - |-| minus ]{b}[?||.]`,
]
