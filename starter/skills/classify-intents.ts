/** What somebody wants from a customer service: the names it may have as a label, what it says, and whom it is too near to. */
export type Intent = {
  readonly labels: readonly string[]
  readonly near?: readonly string[]
  readonly texts: readonly string[]
}

/** A polite or hasty start goes before each of these; see classify.ts. */
export const intents: Readonly<Record<string, Intent>> = {
  orderStatus: {
    labels: ['order status', 'track order', 'order tracking'],
    near: ['shipping', 'complaint'],
    texts: [
      "[where is|where's|what happened to] my [order|parcel|package|{product}]?",
      '[has|did] my [order|parcel|package] [been shipped|leave the warehouse|go out] yet?',
      'I [ordered|bought] a {product} [last week|on {weekday}|days ago] [and it is not here|and have heard nothing|and it has not come yet].',
      '[can I|how do I|where can I] track my [order|parcel|package|{product}]?',
      '[when will|what day will] my [order|parcel|{product}] [arrive|be here|come]?',
      '[what is|tell me] the [status|state] of [my order|order {order}]?',
      '[is|was] order {order} [on its way|already sent|out for delivery]?',
      'my tracking [number|link] [shows nothing|has not changed|says on its way] since {weekday}.',
      'I am [still |]waiting for my {product}[, any news|, where is it]?',
      '[any news|an update] [on|about] [my order|order {order}|my parcel]?',
      '[please check|look up|can you check] [order {order}|where my order is].',
    ],
  },
  refund: {
    labels: ['refund', 'refund request', 'money back'],
    near: ['billing', 'complaint', 'cancel', 'exchange'],
    texts: [
      'I [want|would like|need|demand] [my money back|a refund|a full refund][ for the {product}| for order {order}|].',
      '[please refund|refund me|can you refund] [the {product}|order {order}|my purchase].',
      '[how do I get|can I get|when do I get] [my money back|a refund|the refund]?',
      'I [sent back|returned] the {product}, [when do I get the money|where is my refund]?',
      '[has|was] my refund [been sent|been processed|approved]?',
      'the {product} [does not fit|is not what I wanted], [I want a refund|please give me my money back].',
      '[give|pay|send] me [my money|the money] back[ for the {product}|, please|].',
      'I [returned|gave back] [it|the {product}] [on {weekday}|last week] and [still have no refund|the money is not back].',
      '[how long does|how does] a refund [take|work]?',
    ],
  },
  cancel: {
    labels: ['cancel subscription', 'cancellation', 'cancel account'],
    near: ['refund', 'billing', 'account'],
    texts: [
      'I [want|would like|wish] to [cancel|end|stop] my [subscription|membership|plan|contract].',
      '[how do I|where can I|can I] [cancel|end|terminate] my [subscription|membership|plan|contract]?',
      '[please cancel|cancel|end|stop] my [subscription|membership|plan|contract] [today|at the end of the month|now|from {weekday}].',
      "I don't [want|need|use] [my subscription|my membership|the plan] any more[, cancel it|, please end it|].",
      '[do not renew|please do not extend|stop renewing] my [subscription|membership|contract|plan].',
      'I am [leaving|quitting|unsubscribing], [please end my plan|cancel my membership|stop the subscription].',
      '[unsubscribe me|sign me off|take me off the plan][, please| from the monthly plan| today|].',
    ],
  },
  password: {
    labels: ['password reset', 'reset password', 'login help'],
    near: ['technical', 'account'],
    texts: [
      'I [forgot|lost|cannot remember|do not know] my password.',
      '[how do I|how can I|where do I] [reset|change|recover] my password?',
      "[I can't|I cannot|we cannot] [log in|sign in|get into my account], [wrong password|the password is rejected|it wants a new password].",
      '[please send|send me|I need] [a new password|a reset link|a password link].',
      'the [reset|password] [link|mail] [never came|has expired|does not arrive].',
      'my password [is not accepted|no longer works|has expired|was locked].',
      '[help|please help], I [am locked out|typed my password wrong too often|need a new password].',
    ],
  },
  complaint: {
    labels: ['complaint', 'complain'],
    near: ['refund', 'technical', 'orderStatus', 'shipping', 'billing', 'exchange'],
    texts: [
      'I [want|would like|wish] to [complain|make a complaint] about [your staff|the driver|the service|{person}].',
      'your [staff|driver|agent|cashier] was [very |so |]{rude}[ to me|].',
      'I am [very |so |really |]{cross} with [your service|how I was treated|your company].',
      'this is [unacceptable|an outrage|the worst service ever|a scandal].',
      '[nobody|no one] [helped|listened to|took care of] me, [I am {cross}|this is a shame|what bad service].',
      '{person} at the counter was {rude}[, I want to speak to a manager|, this cannot be|].',
      '[let me speak to|I want to talk to|get me] [your manager|the boss|someone in charge], I am {cross}.',
      'I [waited|stood in line] for [an hour|two hours] [and nobody cared|and was sent away], [terrible service|I am {cross}].',
    ],
  },
  praise: {
    labels: ['praise', 'compliment', 'thanks'],
    texts: [
      '[thank you|many thanks|thanks a lot] for [your help|the great service|being so {kind}].',
      '{person} was [so |very |]{kind}[, please tell the boss|, thank you|].',
      'I [just |]want to say [thank you|well done|great job|how {glad} I am].',
      'you are [great|the best|fantastic|wonderful][, keep it up|, thank you|].',
      'I am [so |very |]{glad} with [your service|the {product}|your team].',
      'the {product} is [great|wonderful|perfect], [thank you|I love it|well done].',
      '[best|great|wonderful|lovely] [service|team|shop] [ever|in town|I know].',
      '[compliments|my compliments|hats off] to [{person}|the team|the chef|your staff].',
    ],
  },
  shipping: {
    labels: ['shipping', 'shipping question', 'delivery options'],
    near: ['orderStatus', 'complaint', 'price'],
    texts: [
      '[do you|can you] [ship|deliver|send] to {city}?',
      '[how much is|what is|what does] [the shipping|shipping|delivery] [cost |]to {city}?',
      '[how long does|how many days does] [shipping|delivery] to {city} take?',
      '[is|do you offer] [free shipping|express delivery|next-day delivery|pick-up]?',
      '[which|what] [carrier|delivery service|courier] do you use?',
      '[can I have|is it possible to have] it [delivered|shipped|sent] [to my office|to a parcel shop|to {city}|on {weekday}]?',
      '[what are|tell me] [your delivery options|the shipping costs|your shipping times].',
    ],
  },
  billing: {
    labels: ['billing', 'invoice', 'billing question'],
    near: ['refund', 'complaint', 'cancel', 'price', 'payment'],
    texts: [
      '[there is|I found|I see] [a mistake|an error|a wrong amount] on my [invoice|bill].',
      '[why was I|why am I|I was] [charged|billed] twice[ this month| on {weekday}|]?',
      '[please send|can I get|I need] [the invoice|a copy of my bill|my last invoice|a receipt][ for the {product}| again|].',
      'my [invoice|bill] [is too high|is wrong|does not add up|has the wrong address].',
      '[what is|explain] this [charge|fee|item] on my [bill|invoice|statement]?',
      '[when is|what day is] my [bill|invoice] due?',
      'I [do not understand|have a question about] my [bill|invoice|monthly statement].',
    ],
  },
  technical: {
    labels: ['technical problem', 'tech support', 'bug report'],
    near: ['password', 'complaint', 'exchange'],
    texts: [
      'the [app|website|program|page] [crashes|freezes|does not load|shows an error][ every time|, what can I do|].',
      'my {product} [does not turn on|does not connect|shows an error|keeps restarting].',
      '[I get|we get|there is] an error [message|code] [when I start|in] the [app|program].',
      '[the screen|the display] [stays black|flickers|is frozen].',
      'the [update|installation|download] [fails|stops halfway|does not start].',
      '[how do I|can you] fix [the error|the crash|my {product}]?',
      '[since the update|since {weekday}] [nothing works|the app crashes|the page is blank|there is no sound].',
      'the [wifi|bluetooth|sound|camera] [does not work|has stopped working|keeps dropping].',
    ],
  },
  sales: {
    labels: ['sales question', 'sales', 'product question'],
    near: ['price', 'shipping', 'exchange'],
    texts: [
      '[do you have|do you sell|is there] [the|a] {product} [in blue|in black|in stock|in a larger size]?',
      'I am [interested in|thinking of buying|looking for] a {product}[, what do you suggest|, can you advise me|].',
      '[which|what] {product} [do you recommend|is right for me|is best for beginners]?',
      '[what is the difference between|how do] the two {product} models [compare|differ]?',
      'we [want|would like] to [buy|order] [fifty|twenty|a hundred] pieces of the {product}, [can you make an offer|whom do I talk to].',
      '[can someone from sales|could a sales person] [call me|contact us][ about the {product}|]?',
      '[does|will] the {product} [work with|fit] [my phone|a Mac|my car]?',
    ],
  },
  hours: {
    labels: ['opening hours', 'business hours'],
    texts: [
      '[when|what time|how late] [do you|does the shop|does the store] [open|close][ on {weekday}| today| tomorrow|]?',
      '[are you|is the shop|is the store in {city}] open [on {weekday}|on Sundays|today|at noon|on holidays]?',
      '[what are|tell me] [your opening hours|your hours|the opening times][ on {weekday}| in {city}|]?',
      '[until when|from when|how long] are you open [on {weekday}|today|in the evening]?',
      '[can I come|may I come by] [at eight|before nine|after six], [are you open then|is the shop open]?',
    ],
  },
  appointment: {
    labels: ['appointment', 'book appointment', 'booking'],
    texts: [
      'I [want|would like|need] [to book|to make] an appointment [on {weekday}|with {person}|next week].',
      '[can I|could I|may I] [book|have|get] an appointment [on {weekday}|with {person}|tomorrow]?',
      '[do you have|is there] [a free slot|an appointment free|time for me] [on {weekday}|with {person}|this week]?',
      '[please move|can we move|I have to move] my appointment [to {weekday}|with {person}].',
      '[can you put me down|book me in|reserve a slot] for {weekday}[ with {person}|]?',
      "I [can't come|cannot make it|am ill] on {weekday}, [can we find a new date|please change my appointment].",
    ],
  },
  exchange: {
    labels: ['exchange', 'exchange item', 'replacement'],
    near: ['refund', 'complaint', 'technical', 'sales'],
    texts: [
      '[can I|could I|I want to|I would like to] [exchange|swap|change] the {product} for [another one|a larger one|a blue one].',
      'the {product} is [too small|too large|the wrong colour], [can I swap it|please send another size|I need a different one].',
      '[please send|I need|can I get] a replacement for [the|my] {product}.',
      'I got the wrong {product}, [please send the right one|can you exchange it].',
      '[how do I|where can I] [exchange|swap] [a|my] {product}?',
    ],
  },
  account: {
    labels: ['account update', 'change address', 'account details'],
    near: ['password', 'cancel'],
    texts: [
      '[please change|I need to change|how do I change] my [address|e-mail address|phone number|name] [in my account|in your files|, please].',
      'I [moved|have moved] to {city}, [please update my address|here is my new address].',
      '[my new|our new] [address|phone number|e-mail] is not in [my account|your system] yet.',
      '[can you|please] [update|correct] my [address|name|profile|account details].',
      'I [got married|have a new number], [please update my account|how do I change my details]?',
    ],
  },
  payment: {
    labels: ['payment methods', 'payment options'],
    near: ['billing'],
    texts: [
      '[can I|may I|is it possible to] pay [by card|in cash|with PayPal|by invoice|in instalments]?',
      '[which|what] [payment methods|ways to pay|cards] do you [accept|offer|take]?',
      '[do you accept|do you take] [cash|credit cards|gift cards|bank transfers]?',
      '[how|where] can I pay[ for the {product}|]?',
    ],
  },
  price: {
    labels: ['price question', 'pricing'],
    near: ['sales', 'shipping', 'billing'],
    texts: [
      '[how much is the {product}|what does the {product} cost|how much does the {product} cost]?',
      '[what is|tell me] the price of the {product}[ today| with tax|]?',
      '[is there|do you have|can I get] a [discount|student price|lower price][ on the {product}|]?',
      '[is|was] the {product} [cheaper|on sale|reduced][ on {weekday}| this week|]?',
      '[what are|where do I find] your prices[ for the {product}|]?',
    ],
  },
  job: {
    labels: ['job application', 'careers'],
    texts: [
      'I [want|would like] to [work for you|apply for a job|join your team].',
      '[are you hiring|do you have any open jobs|is there a job] [in {city}|at the moment|for students]?',
      '[where|how] [do I|can I] apply[ for the job in {city}|]?',
      '[here is|I am sending you] my [CV|application|resume].',
      '[is the position|is the job] [in {city} |]still [open|free]?',
      '[do you offer|do you have] internships[ in {city}|]?',
    ],
  },
}
