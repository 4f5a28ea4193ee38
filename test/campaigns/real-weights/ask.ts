/** Asks for JSON. Throws with the answer's status and what it says where that is no success. */
export async function ask<Answer>(address: string, path: string, body: object, key = 'none'): Promise<Answer> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  const response = await fetch(address + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${(await response.text()).slice(0, 300)}`)
  return (await response.json()) as Answer
}
