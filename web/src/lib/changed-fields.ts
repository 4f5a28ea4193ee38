/** What a form has now and did not begin with. Only that is sent: the rest stays as somebody else may have set it meanwhile. */
export function changedFields<Fields extends object>(began: Fields, now: Fields): Partial<Fields> {
  const same = new Map(Object.entries(began).map(([name, value]) => [name, JSON.stringify(value)]))
  const changed = Object.entries(now).filter(([name, value]) => same.get(name) !== JSON.stringify(value))
  return Object.fromEntries(changed) as Partial<Fields>
}
