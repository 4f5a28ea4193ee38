export type Operation = '+' | '-'

export type Calculation = { readonly left: number; readonly operation: Operation; readonly right: number }

const places = ['ones', 'tens', 'hundreds', 'thousands']

export function result({ left, operation, right }: Calculation): number {
  return operation === '+' ? left + right : left - right
}

export function equation(calculation: Calculation): string {
  return `${calculation.left} ${calculation.operation} ${calculation.right} = ${result(calculation)}`
}

/**
 * The way from the task to the result, column by column from the right, always in the same form:
 * each step needs one sum of digits, and `write` repeats what is known so far, so that
 * the result only has to be copied.
 */
export function working(calculation: Calculation): string {
  const { left, operation, right } = calculation
  if (operation === '-' && left < right) {
    const swapped: Calculation = { left: right, operation, right: left }
    return `${left} is less than ${right}, so swap and negate. ${columns(swapped)}. Result ${result(calculation)}.`
  }
  return `${columns(calculation)}. Result ${result(calculation)}.`
}

function columns({ left, operation, right }: Calculation): string {
  const width = Math.max(String(left).length, String(right).length)
  const [upper, lower] = [String(left).padStart(width, '0'), String(right).padStart(width, '0')]
  const moved = operation === '+' ? 'carry' : 'borrow'
  const steps: string[] = []
  let [written, carried] = ['', 0]
  for (let place = 0; place < width; place += 1) {
    const [first, second] = [Number(upper[width - 1 - place]), Number(lower[width - 1 - place])]
    const sum = operation === '+' ? first + second + carried : first - second - carried
    const step = `${places[place]} ${first} ${operation} ${second} ${operation} ${carried} = ${sum}`
    written = `${(sum + 10) % 10}${written}`
    carried = sum > 9 || sum < 0 ? 1 : 0
    steps.push(`${step}, ${moved} ${carried}, write ${written}`)
  }
  if (carried === 1) steps.push(`${places[width]} 1, write 1${written}`)
  return `${upper} ${operation} ${lower}: ${steps.join('; ')}`
}
