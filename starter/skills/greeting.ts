import type { Skill, StarterModel } from '../example.ts'
import { phrase } from '../phrase.ts'

const modelIds: readonly StarterModel[] = ['hal-1.0', 'clarke-1.0', 'tycho-1.0']

type Courtesy = {
  readonly about: string
  readonly templates: readonly string[]
  readonly answer: string
  readonly facts: readonly string[]
}

const name =
  '[| there| you| again| everyone| friend| Odyssey| buddy| bot| robot| computer| machine| my friend| all| team| model| old friend| dear]'
const introduction = 'I am {model}, the small built-in model of Odyssey.'

const courtesies: readonly Courtesy[] = [
  {
    about: 'The user greets me.',
    templates: [
      `[Hi|Hello|Hey|Hiya|Heya|Hullo|Howdy|Yo|Greetings|Salutations|Ahoy|Hi hi|Hello hello|Well hello|Oh hi|Hey hey|Helloo|Hii]${name}[|!|.|!!|, nice to meet you.| :)|, good to see you!|...|, I am new here.|, first time here.]`,
      `[Good morning|Good evening|Good afternoon|Good day|Morning|Evening|G'day|A very good morning|Afternoon|Top of the morning]${name}[|!|.|!!| :)|, nice to meet you.|...|, I am new here.]`,
      `[Hi|Hello|Hey|Good morning|Good evening][!|,|.] [My name is|I am|I'm|This is|It's] [Anna|Peter|Tom|Maria|Lukas|Sofia|Ali|Chen|Yuki|Omar|Ben|Julia|Nina|Raj|Kim|Leo|Eva|Paul].`,
      '[Nice|Good|Pleased|Glad|Happy|Great] to [meet|see] you[|!|.|, Odyssey.|, model.]',
      "[Let's|Shall we|Can we|I want to|May I] [start|begin|chat|talk|get going][.|!|?|]",
      '[Hallo|Bonjour|Hola|Ciao|Moin|Salut|Servus|Ola|Hej|Guten Tag|Buenos dias|Buongiorno|Namaste|Salam][|!|.| Odyssey| Odyssey!]',
    ],
    answer: `Hello! ${introduction} What can I do for you?`,
    facts: ['Hello', '{model}', 'built-in'],
  },
  {
    about: 'The user asks how I am.',
    templates: [
      `[||Hi! |Hello. |Hey, |Good morning. ][How are you|How are you doing|How do you do|How is it going|How's it going|How are things|How's life|What's up|What is up|Wassup|Sup|How have you been|How do you feel|How are you feeling|Are you well|Are you OK|You OK|You alright|How goes it|What's new|What's going on|How was your day|How is your day][| today| these days| right now| this morning| tonight][?||, Odyssey?|, my friend?|, buddy?|?!]`,
      '[I am fine|I am well|All good here|I am good|Doing well][.|,] [and you|how about you|what about you|how are you]?',
    ],
    answer: `I am fine, thank you. ${introduction} What can I do for you?`,
    facts: ['fine', '{model}', 'built-in'],
  },
  {
    about: 'The user thanks me.',
    templates: [
      '[||OK, |Great, |Perfect, |Wow, |Ah, |Good, |Cool, |Nice, ][Thanks|Thank you|Thx|Many thanks|Thanks a lot|Thank you so much|Thank you very much|Thanks so much|Cheers|Much appreciated|Ty|Thanks a million|Thanks a bunch|A thousand thanks|I appreciate it|I thank you][|!|.| for your help.| for the help!| for that.| for the answer.|, that helped.|, that was useful.|, Odyssey.|, that is all.| for everything!| for explaining.]',
      '[That|This|It|Your answer] [helped|was helpful|was useful|solved it|worked|is what I needed|did it|was great][.|!|, thanks!|, thank you.]',
      '[You are|You were] [great|very helpful|a great help|kind|so kind|awesome|the best|wonderful][.|!|]',
    ],
    answer: 'You are welcome! What else can I do for you?',
    facts: ['You are welcome'],
  },
  {
    about: 'The user says goodbye.',
    templates: [
      '[||OK, |Thanks, |Well, |Alright, |All right, |I am done, |That is all, ][Bye|Goodbye|Bye bye|See you|See you later|See you tomorrow|Good night|Farewell|Take care|So long|Until next time|Talk to you later|Catch you later|Cya|Have a nice day|Have a good one|Have a great weekend|I have to go|I must go|I am leaving now|Later|Over and out|Good bye|Night|Adieu][|!|.|, Odyssey.| :)|, my friend.]',
    ],
    answer: 'Goodbye! Come back any time.',
    facts: ['Goodbye'],
  },
  {
    about: 'The user checks whether I answer.',
    templates: [
      '[||Hello, |Hi, |Hey, |Hello? |Odyssey, |So, |Erm, ][are you there|are you still there|is anyone there|is anybody there|anyone there|anybody home|can you hear me|do you hear me|can you read me|do you read me|do you read this|are you awake|are you alive|are you online|are you listening|are you working|do you work|does this work|is this working|is this on|are you up|are you running|did you get this|can you see this|do you copy|is someone there|can you respond|can you answer|are you ready|will you answer me][?| now?|??|]',
      '[Test|Testing|Ping|This is a test|Just a test|Just testing|Only a test|A test|Test message|Test 1 2 3|Testing, testing|Check|Mic check|Test test|Hello world|Ping ping|Trying this out|Say something|Answer me|Respond|Please respond|Testing the connection|Connection test|A quick test|Smoke test][|.|!|?|, please.]',
    ],
    answer: `Yes, I am here. ${introduction} What can I do for you?`,
    facts: ['I am here', '{model}', 'built-in'],
  },
  {
    about: 'The user agrees.',
    templates: [
      "[||Oh, |Ah, |Hm, |Well, |Yes, |Yeah, ][OK|Okay|Great|Fine|Good|Alright|All right|Cool|Nice|Perfect|Sounds good|Got it|I see|Understood|Makes sense|Very good|Excellent|Super|Wonderful|Sure|Right|Fair enough|Awesome|Very well|Good to know|Interesting|Amazing|That's fine|That's good|Well done|Good job][|!|.|...| then.| :)|, good.|, Odyssey.]",
    ],
    answer: 'Good! What else can I do for you?',
    facts: ['What else can I do for you'],
  },
]

export const greeting: Skill = {
  name: 'greeting',
  weight: 4,
  goal: 0.95,
  make(random, split) {
    const model = random.pick(modelIds)
    // The first courtesy, a plain greeting, is by far the most common beginning.
    const courtesy = random.chance(0.3) ? (courtesies[0] ?? random.pick(courtesies)) : random.pick(courtesies)
    const insert = (text: string) => text.replaceAll('{model}', model)
    return {
      model,
      turns: [
        { role: 'user', content: phrase(random, split, courtesy.templates) },
        { role: 'assistant', content: insert(courtesy.answer), thinking: courtesy.about },
      ],
      judge: { kind: 'facts', required: courtesy.facts.map(insert) },
    }
  },
}
