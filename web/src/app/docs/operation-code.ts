import type { Operation } from './openapi.ts'

export type Language = 'curl' | 'typescript' | 'python'
export const languages: readonly { readonly value: Language; readonly label: string }[] = [
  { value: 'curl', label: 'curl' },
  { value: 'typescript', label: 'TypeScript' },
  { value: 'python', label: 'Python' },
]

type Told = { readonly address: string; readonly variable: string; readonly body: unknown }

/** One request as each language says it, with the key in a variable of the shell. */
export function codeOf(language: Language, { method, path }: Pick<Operation, 'method' | 'path'>, told: Told): string {
  const url = `${told.address}${path}`
  return writers[language]({ method, url, ...told })
}

type Written = Told & { readonly method: string; readonly url: string }

const writers: Readonly<Record<Language, (written: Written) => string>> = {
  curl({ method, url, variable, body }) {
    const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}'${url}'`, `-H "Authorization: Bearer $${variable}"`]
    if (body !== undefined) {
      lines.push(`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`)
    }
    return lines.join(' \\\n  ')
  },
  typescript({ method, url, variable, body }) {
    const type = body === undefined ? '' : `, 'Content-Type': 'application/json'`
    const sent =
      body === undefined ? '' : `\n  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),`
    return [
      `const answer = await fetch('${url}', {`,
      `  method: '${method}',`,
      `  headers: { Authorization: \`Bearer \${process.env.${variable}}\`${type} },${sent}`,
      `})`,
      `console.log(answer.status, await answer.text())`,
    ].join('\n')
  },
  python({ method, url, variable, body }) {
    const data = body === undefined ? '' : `, data=json.dumps(${toPython(body)}).encode()`
    return [
      'import json, os, urllib.request',
      '',
      `request = urllib.request.Request("${url}", method="${method}"${data})`,
      `request.add_header("Authorization", "Bearer " + os.environ["${variable}"])`,
      ...(body === undefined ? [] : ['request.add_header("Content-Type", "application/json")']),
      'with urllib.request.urlopen(request) as answer:',
      '    print(answer.status, answer.read().decode())',
    ].join('\n')
  },
}

/** JSON as Python writes it: three of its words are others there. */
function toPython(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(toPython).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  return `{${Object.entries(value as object)
    .map(([key, one]) => `${JSON.stringify(key)}: ${toPython(one)}`)
    .join(', ')}}`
}
