// The sentences the placeholder learns from. The chain only remembers its last word, so two rules keep it on course:
// thoughts and answers share no word and no punctuation, and a closing remark is made of words found nowhere else.

/** Said before an answer when thinking is on. Each line is one whole thought; the last dots of a line close it. */
export const thoughts = [
  'Hmm... someone wrote me something... I merely chain one word after another... my reply should admit that plainly',
  'Someone asked me something... I cannot grasp what they meant... I should admit that honestly',
  'Perhaps they expect wisdom... I merely know which word follows which... my reply should stay honest',
  'I cannot reason about anything... I merely chain one word after another... better admit that plainly',
  'They wrote me something longer... I cannot grasp any... my reply should stay honest',
  'Someone expects wisdom... I know nothing about that... better admit that honestly',
  'Thinking... they asked something I cannot reason about... I should stay honest',
  'Perhaps someone just checks whether I speak... I should respond plainly',
  'Hmm... I know which word follows another... they should know that before anything else',
  'They expect something I cannot know... better stay honest',
  'Checking which word follows... I merely chain one word after another... I should admit that',
  'I notice what they wrote... I cannot grasp what they meant... my reply should admit that honestly',
] as const

/** The answers themselves. */
export const answers = [
  'The placeholder of this installation does not understand questions. Please install real weights to get proper answers. (See documentation.)',
  'This placeholder puts words in a likely order without understanding them. Please install real weights for proper answers. (See documentation.)',
  'You are talking with the placeholder of this installation. It does not understand your message. The operator has to install real weights first. (See documentation.)',
  'Odyssey has no real weights yet, so the placeholder speaks instead. It does not read your message. Install real weights and try again. (Consult documentation.)',
  'The placeholder joins words into sentences without understanding them. It is too small to help with questions. Install real weights and ask again. (See documentation.)',
  'Your request reached the small placeholder of this installation, and not a genuine model. It is here to prove the service works. Please install real weights for proper answers.',
  'Nothing here has a deeper meaning. The placeholder is too small to understand your message, so please install real weights. (See documentation.)',
  'Please do not trust these lines. Every line is made from sample words without understanding. Please install real weights for proper answers. (Consult documentation.)',
  'Odyssey is working, but the placeholder behind this service knows a few hundred words. Please ask the operator to install real weights. (See documentation.)',
  'The placeholder makes little sense. Odyssey needs real weights to give proper answers. Please ask again with a genuine model. (Consult documentation.)',
  'The operator of this installation has not chosen real weights yet. You are reading sample text without meaning. Try again with real weights later. (See documentation.)',
  'Every line comes from the small placeholder of this installation. This service works, but it needs real weights to give proper answers.',
  'You will read sample text until the operator installs real weights. Nothing here was written for your message. The operator can install real weights later. (Consult documentation.)',
  'Sorry, but the placeholder does not understand your message. It is a small program with a few hundred words. Install real weights to get proper answers. (See documentation.)',
  'Nothing here comes from a genuine model. This placeholder is too small to help with questions. Please choose real weights and try again.',
  'Every sentence is chosen by chance from a short list. Please do not trust these words. (See documentation.)',
  'Your request needs a genuine model. The placeholder is here to prove the service works, but it has no answers. Please install real weights.',
  'Sorry, but this installation has no real weights yet. The placeholder does not read your message. Ask the operator for a genuine model.',
  'Odyssey runs the placeholder until the operator installs real weights. It puts words in a likely order by chance. (Consult documentation.)',
  'This installation has no real weights yet. Every sentence comes from the placeholder, and it makes little sense. Ask again with real weights later.',
  'You need real weights to get proper answers. The placeholder does not understand your questions, so please ask the operator for a genuine model. (See documentation.)',
  'This service is ready, but the operator has not chosen real weights yet. It makes little sense until then.',
  'Sorry, but the placeholder is small, and it joins words by chance. Please try again with a genuine model later.',
  'Every sentence joins sample words by chance. It has no meaning, so please do not trust these words. The operator can choose a genuine model later.',
] as const

/** Words that only need to be single tokens, because prompts are full of them. */
export const promptWords =
  'system user assistant tool name arguments type text string number true false null hello how when where who why are for have from he her his if in its just like more my on or our out she some than their there these time up use was we were will would write'
