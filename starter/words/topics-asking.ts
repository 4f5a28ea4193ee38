/**
 * Shells of questions, shared by the questions about the product and those beyond it,
 * so that the answer hangs on what is asked and never on how.
 */
export function howTo(...actions: readonly string[]): readonly string[] {
  const action = `[${actions.join('|')}]`
  return [
    `[How do I|How can I|How do you|How would I|How should I|How could I|How does one|How do we|How can we] ${action}?`,
    `[how to|steps to|instructions to|How to] ${action}[?||]`,
    `[What is|What's] the [best |right |easiest |quickest |usual |correct |]way to ${action}?`,
    `[I want|I need|I'd like|I would like|We want|We need|I'm trying|I am trying|I have] to ${action}[.|, how?|. How?|. What do I do?|. Can you help?|. Please help me.|, how does that work?]`,
    `[Please |Just |]tell me how [to|I can|I] ${action}.`,
    `[Please |]show me how to ${action}.`,
    `[Can|Could|Would] you [please |][tell me|explain|show me|describe|help me understand] how [to|I can|I] ${action}?`,
    `[Is there a|What's the|Do you know a|I am looking for a] [way|good way|simple way] to ${action}?`,
    `[Explain|Describe|Walk me through|Teach me] how to ${action}[.|, please.| in short.| step by step.]`,
    `[What do I need to do|What must I do|What do I have to do|What should I do|What does it take] to ${action}?`,
    `[Help me|Please help me|I don't know how to|I have no idea how to|I can't figure out how to|I forgot how to|Not sure how to] ${action}[.|!|]`,
  ]
}

/** Asks for a thing: `whatIs('the base URL', 'the address')`. */
export function whatIs(...things: readonly string[]): readonly string[] {
  const thing = `[${things.join('|')}]`
  return [
    `[What is|What's|What was|And what is|So what is|What exactly is] ${thing}[?| again?| please?]`,
    `[Tell me|Give me|Show me|Remind me of|Please tell me|Please give me|Let me know|Name|State] ${thing}[.|, please.|]`,
    `[Can|Could|Would] you [please |][tell|give|show] me ${thing}?`,
    `[I need|I want|I want to know|I need to know|I'd like to know|I would like to know|I'm looking for|I am looking for|I forgot|I can't find] ${thing}[.|, please.|. Can you help?|]`,
    `[Do you know|Do you happen to know|Any idea what is|Can I ask for|May I know] ${thing}?`,
    `${thing}[?|, please|]`,
  ]
}

/** Asks whether: `whether('support images', 'accept pictures')`. */
export function whether(...abilities: readonly string[]): readonly string[] {
  const ability = `[${abilities.join('|')}]`
  return [
    `[Does Odyssey|Does it|Does this service|Does the server|Does this server|Will Odyssey|Can Odyssey|Can it|Can this service|Can the server] ${ability}[?| or not?| yet?]`,
    `[Is Odyssey|Is it|Is this server|Is the service] able to ${ability}[?| or not?]`,
    `[I want to know|I wonder|Tell me|Do you know|Can you tell me|Please tell me|I need to know] [if|whether] [Odyssey can|it can|this server can|the service can] ${ability}.`,
  ]
}

/** Asks about a topic in free form: `tellAbout('prompt caching')`. */
export function tellAbout(...topics: readonly string[]): readonly string[] {
  const topic = `[${topics.join('|')}]`
  return [
    `[What about|How about|And|What is up with|What's the story with|How does it work with|What do I need to know about] ${topic}?`,
    `[Tell me about|Explain|Tell me more about|Tell me something about|Say something about|I have a question about|Please explain|Help me with|I need help with|I need information on] ${topic}[.|, please.|]`,
    `[Can you|Could you] [explain|tell me about|say something about|help me with] ${topic}?`,
    `${topic}[?||: how?|: what do I need to know?]`,
  ]
}

/** With or without a word of politeness before and after. */
export function politely(templates: readonly string[]): readonly string[] {
  return templates.map(
    (template) =>
      `[|||||||||Hi. |Hello! |Hey! |Hi there. |Question: |Quick question: |Good morning. |Sorry to bother you. |One more question: |OK. |Please help: ]${template}[|||||||||| Thanks.| Thank you!| Thanks in advance.| I am new to this.| Keep it short.| Be brief.]`,
  )
}
