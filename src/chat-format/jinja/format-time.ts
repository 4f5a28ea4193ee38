/** A time in the notation of C's strftime, as far as templates ask for it. */
export function formatTime(time: Date, pattern: string): string {
  const name = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-US', options).format(time)
  const two = (value: number) => String(value).padStart(2, '0')
  const hours = time.getHours() % 12 === 0 ? 12 : time.getHours() % 12
  const parts: Readonly<Record<string, () => string>> = {
    Y: () => String(time.getFullYear()),
    y: () => two(time.getFullYear() % 100),
    m: () => two(time.getMonth() + 1),
    B: () => name({ month: 'long' }),
    b: () => name({ month: 'short' }),
    d: () => two(time.getDate()),
    e: () => String(time.getDate()).padStart(2),
    A: () => name({ weekday: 'long' }),
    a: () => name({ weekday: 'short' }),
    H: () => two(time.getHours()),
    I: () => two(hours),
    M: () => two(time.getMinutes()),
    S: () => two(time.getSeconds()),
    p: () => (time.getHours() < 12 ? 'AM' : 'PM'),
    Z: () => '',
    '%': () => '%',
  }
  return pattern.replace(/%(-?)([a-zA-Z%])/gu, (whole, plain: string, part: string) => {
    const written = parts[part]?.() ?? whole
    return plain === '' ? written : written.replace(/^[0 ](?=.)/u, '')
  })
}
