/** One thing that was examined. */
export type Finding = {
  readonly about: string
  readonly level: 'fine' | 'warning' | 'fault'
  readonly says: string
  /** What the operator can do about it; null where nothing is to be done. */
  readonly todo: string | null
}

export function fine(about: string, says: string): Finding {
  return { about, level: 'fine', says, todo: null }
}

/** The service works, and somebody should look at this all the same. */
export function warning(about: string, says: string, todo: string): Finding {
  return { about, level: 'warning', says, todo }
}

/** The service does not start or does not work with this. */
export function fault(about: string, says: string, todo: string): Finding {
  return { about, level: 'fault', says, todo }
}
