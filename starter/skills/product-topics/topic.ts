import { politely } from '../../words/topics-asking.ts'

/** Something people ask about the product, and what is true of it. */
export type Topic = {
  /** What is asked about, as the thinking names it: "The question is about {about}." */
  readonly about: string
  readonly templates: readonly string[]
  /** Values that the question names and the answer repeats, as `{name}` in templates, answers and facts. */
  readonly slots?: Readonly<Record<string, readonly string[]>>
  /** Written as they are but for the slots: brackets mean nothing here. */
  readonly answers: readonly string[]
  /** What a right answer must contain. */
  readonly facts: readonly string[]
}

export function topic(
  about: string,
  templates: readonly (string | readonly string[])[],
  answers: string | readonly string[],
  facts: readonly string[],
): Topic {
  return { about, templates: politely(templates.flat()), answers: [answers].flat(), facts }
}
