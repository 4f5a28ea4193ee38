import type { Random } from '../random.ts'
import * as everyday from './topics-everyday.ts'
import { famousPeople } from './topics-people.ts'
import { countries, landmarks, travelCities } from './topics-places.ts'
import { animals, concepts, plants } from './topics-science.ts'
import { codingTasks, humanLanguages, otherModels, programmingLanguages, software } from './topics-technology.ts'
import { foreignSentences, passages, snippets } from './topics-texts.ts'
import { events, works } from './topics-works.ts'

/** What each slot of an off-domain template is drawn from. */
export function offDomainValues(random: Random): Readonly<Record<string, () => string>> {
  const from = (list: readonly string[]) => () => random.pick(list)
  const letters = (count: number) =>
    Array.from({ length: count }, () => random.pick([...'abcdefghijklmnopqrstuvwxyz'])).join('')
  const any = [
    countries,
    travelCities,
    landmarks,
    famousPeople,
    concepts,
    works,
    events,
    everyday.dishes,
    everyday.subjects,
    everyday.affairs,
    software,
  ]
  return {
    country: from(countries),
    city: from(travelCities),
    landmark: from(landmarks),
    person: from(famousPeople),
    concept: from(concepts),
    animal: from(animals),
    plant: from(plants),
    work: from(works),
    event: from(events),
    dish: from(everyday.dishes),
    repair: from(everyday.repairs),
    device: from(everyday.devices),
    hobby: from(everyday.hobbies),
    sport: from(everyday.sports),
    ailment: from(everyday.ailments),
    job: from(everyday.jobs),
    someone: from(everyday.animate),
    subject: from(everyday.subjects),
    affair: from(everyday.affairs),
    code: from(programmingLanguages),
    task: from(codingTasks),
    software: from(software),
    other: from(otherModels),
    language: from(humanLanguages),
    snippet: from(snippets),
    passage: from(passages),
    foreign: from(foreignSentences),
    anything: () => random.pick(random.pick(any)),
    nonsense: () => Array.from({ length: random.integer(1, 4) }, () => letters(random.integer(3, 9))).join(' '),
    number: () => `${random.integer(2, 999)}`,
    other_number: () => `${random.integer(2, 99)}`,
    year: () => `${random.integer(1000, 2026)}`,
  }
}
