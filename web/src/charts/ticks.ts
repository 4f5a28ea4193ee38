/** Round numbers from 0 to at least `max`, five at most beside the 0; whole ones for what is counted. */
export function ticksUpTo(max: number, isWhole = false): readonly number[] {
  if (!(max > 0)) return [0, 1]
  const raw = max / 4
  const power = 10 ** Math.floor(Math.log10(raw))
  const step =
    [1, 2, 2.5, 5, 10]
      .map((factor) => factor * power)
      .find((candidate) => candidate >= raw && (!isWhole || Number.isInteger(candidate))) ?? Math.ceil(raw)
  const count = Math.ceil(max / step - 1e-9)
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)))
}

const hoursOfDay = [1, 2, 3, 4, 6, 8, 12, 24]

/** Which of many hours are labelled: those that part a day evenly, or only those at which days begin. */
export function spacedHours(hours: readonly number[], labelsMax: number): readonly number[] {
  const every = (step: number) => hours.flatMap((hour, index) => (hour % step === 0 ? [index] : []))
  const step = hoursOfDay.find((one) => every(one).length <= labelsMax)
  if (step !== undefined) return every(step)
  const days = every(24)
  return spacedIndexes(days.length, labelsMax).map((index) => days[index] ?? 0)
}

/** Which of many labels are shown, evenly apart. */
export function spacedIndexes(count: number, labelsMax: number): readonly number[] {
  const step = Math.max(1, Math.ceil(count / Math.max(1, labelsMax)))
  return Array.from({ length: Math.ceil(count / step) }, (_, index) => index * step)
}
