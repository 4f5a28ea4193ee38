import { howTo, tellAbout } from '../../words/topics-asking.ts'
import { topic, type Topic } from './topic.ts'

const keyNames =
  `laptop, phone, desktop, server, staging, production, backend, frontend, website, office, home, tablet, workstation, notebook, intern, support, marketing, finance, research, testing, monitor, robot, billing, mobile, demo, editor, terminal, backup, search, chatbot, anna, peter, maria, james, lukas, sofia, team-a, team-b, ci, dev`.split(
    ', ',
  )

/** API keys and the command that makes them. */
export const keys: readonly Topic[] = [
  topic(
    'creating a key',
    [
      howTo(
        '[create|make|add|generate|issue|get|obtain] [an|a new|another|a second|one more] [API key|Odyssey key|access key]',
        '[create|make|get|add] [a key for Odyssey|more keys|further keys|new API keys]',
        'get [an API token|a token for the API|access to the API]',
      ),
      '[Create|Make|Generate|Add|Give me|I need|Issue] [an API key|a new API key|another API key|a new key|a key for Odyssey|an Odyssey key][.|, please.|]',
      '[Where|How] do I get [an API key|a key|my API key]?',
      '[What|Which] command [creates|makes|adds] [an API key|a key|a new key]?',
    ],
    'Run `npx odyssey keys create --name laptop`. The key is shown once.',
    ['odyssey keys create --name', 'shown once'],
  ),
  {
    ...topic(
      'creating a key with a name',
      [
        howTo(
          '[create|make|add|generate|issue] [an API key|a key|a new key|another key] [named|called|with the name|by the name of] {name}',
        ),
        '[Create|Make|Generate|Add|Give me|I need|Issue] [an API key|a key|a new key|another key] [named|called|with the name] {name}[.|, please.|]',
        '[What|Which] command [creates|makes|adds] a key [named|called] {name}?',
        'I [need|want] a key and its name [is|should be|shall be] {name}.',
      ],
      'Run `npx odyssey keys create --name {name}`. The key is shown once.',
      ['odyssey keys create --name {name}', 'shown once'],
    ),
    slots: { name: keyNames },
  },
  topic(
    'listing the keys',
    [
      howTo(
        '[list|show|see|view|display|print] [the|my|all|all the|all my] [keys|API keys]',
        'see which [keys|API keys] [exist|there are|I have]',
      ),
      '[List|Show|Show me|Print|Display] [the|all|my|all my] [API keys|keys][.|, please.|]',
      '[Which|What] [keys|API keys] [exist|are there|do I have]?',
      '[What|Which] command [lists|shows] [the|all] [keys|API keys]?',
    ],
    'Run `npx odyssey keys list`. It lists the keys, never their secret.',
    ['odyssey keys list'],
  ),
  topic(
    'revoking a key',
    [
      howTo(
        '[revoke|delete|remove|disable|invalidate|block|deactivate|withdraw|cancel|kill] [a|an old|the|my|one] [key|API key]',
        '[stop|lock out] [a leaked|an old|a stolen] [key|API key]',
      ),
      '[Revoke|Delete|Remove|Disable] [a|my|an old|the] [API key|key][.|, please.|]',
      'My [key|API key] [leaked|was stolen|is on GitHub|has leaked|is public]. What [now|do I do]?',
      '[Someone|Somebody] stole my API key[.|!|, what now?]',
      '[What|Which] command [revokes|deletes|removes|disables] a key?',
    ],
    'Run `npx odyssey keys list` to find its id, then `npx odyssey keys revoke <id>`. It takes effect at once.',
    ['odyssey keys revoke', 'at once'],
  ),
  topic(
    'a lost key',
    [
      'I [lost|forgot|misplaced|deleted|no longer have|can no longer find|did not save|did not write down|cannot find] [my|the|our] [key|API key][.|, what now?|. What do I do?|. Can I see it again?|. How do I get it back?|. Help!]',
      howTo(
        '[recover|restore|get back|see again|retrieve] [a lost|my lost|a forgotten|my forgotten|the lost] [key|API key]',
        '[show|see|view] [my|the] key again',
      ),
      'Can I [see|show|read|view|print] [my|the|a|an old] [key|API key] again[ later|]?',
      '[lost|forgotten] [API key|key][?||, what now?]',
      tellAbout('a lost key', 'lost API keys', 'a forgotten key', 'my lost API key'),
    ],
    'A key is shown once and cannot be shown again. Create a new one with `npx odyssey keys create --name laptop` and revoke the old one.',
    ['shown once', 'odyssey keys create', 'revoke'],
  ),
  topic(
    'a key that is refused',
    [
      'Why [do I get|does the server answer with|am I getting|does Odyssey answer] [a 401|401|unauthorized|"invalid API key"]?',
      'My [key|API key] [is refused|does not work|is rejected|is not accepted|is invalid|stopped working][.|, why?|. What is wrong?|. Why?]',
      tellAbout('error 401', '401 unauthorized', 'an invalid API key', 'a rejected key'),
      'Do I need [a key|an API key][ at all| to use Odyssey| for requests|]?',
    ],
    'Nothing below /v1 answers without a valid key. Make one with `npx odyssey keys create --name laptop`.',
    ['valid key', 'odyssey keys create'],
  ),
]
