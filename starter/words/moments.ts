import type { Random } from '../random.ts'

export const weekdays: readonly string[] = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ')

export const months: readonly string[] =
  'January February March April May June July August September October November December'.split(' ')

const shortMonths = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** A date, in one of the ways people write dates. */
export function drawDate(random: Random): string {
  const month = random.integer(0, 11)
  const day = random.integer(1, 28)
  const year = random.integer(2019, 2031)
  const long = months[month] ?? ''
  const short = shortMonths[month] ?? ''
  const [dd, mm] = [String(day).padStart(2, '0'), String(month + 1).padStart(2, '0')]
  return random.weighted([
    [`${day} ${long} ${year}`, 5],
    [`${year}-${mm}-${dd}`, 4],
    [`${long} ${day}`, 3],
    [`${long} ${day}, ${year}`, 3],
    [`${day} ${long}`, 3],
    [`${dd}.${mm}.${year}`, 2],
    [`${dd}/${mm}/${year}`, 2],
    [`${day} ${short} ${year}`, 1],
    [`${short} ${day}`, 1],
    [`${long} ${ordinal(day)}`, 1],
  ])
}

/** A date without its year, as one says it in a note: `3 May`. */
export function drawDay(random: Random): string {
  const month = random.pick(months)
  const day = random.integer(1, 28)
  return random.weighted([
    [`${day} ${month}`, 3],
    [`${month} ${day}`, 2],
  ])
}

export function drawTime(random: Random): string {
  const minutes = random.pick(['00', '15', '30', '45', '10', '20'])
  return random.weighted([
    [`${random.integer(7, 22)}:${minutes}`, 4],
    [`${random.integer(1, 12)} ${random.pick(['am', 'pm'])}`, 3],
    [`${random.integer(1, 12)}:${minutes} ${random.pick(['am', 'pm'])}`, 2],
    ['noon', 0.3],
  ])
}

/** An amount of money: as it is written, and its number. */
export type Money = { readonly text: string; readonly value: number }

export function drawMoney(random: Random, most = 9_999): Money {
  const whole = random.weighted([
    [random.integer(1, 99), 3],
    [random.integer(100, 999), 3],
    [random.integer(1, Math.ceil(most / 10)) * 10, 2],
    [random.integer(1, most), 1],
  ])
  const cents = random.chance(0.35) ? random.integer(1, 99) : 0
  const number = cents === 0 ? String(whole) : `${whole}.${String(cents).padStart(2, '0')}`
  const text = random.weighted([
    [`€${number}`, 3],
    [`$${number}`, 3],
    [`£${number}`, 1],
    [`${number} euros`, 2],
    [`${number} dollars`, 1],
    [`${number} EUR`, 1],
    [`${number} USD`, 1],
    [`${number} €`, 1],
    [`CHF ${number}`, 0.5],
    [`${number} pounds`, 0.5],
  ])
  return { text, value: Number(number) }
}

function ordinal(day: number): string {
  const ending =
    day % 10 === 1 && day !== 11
      ? 'st'
      : day % 10 === 2 && day !== 12
        ? 'nd'
        : day % 10 === 3 && day !== 13
          ? 'rd'
          : 'th'
  return `${day}${ending}`
}
