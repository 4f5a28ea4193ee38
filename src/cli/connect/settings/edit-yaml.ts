import { parseDocument, type Document } from 'yaml'
import type { Edit } from './plan-edits.ts'
import type { SettingsText } from './settings-text.ts'

export function readYaml(text: string): SettingsText {
  const document = parse(text)
  return {
    // A file of comments alone has no value.
    value: document.contents === null ? {} : (document.toJS() as unknown),
    edit: (edits) => edit(text, edits),
  }
}

function parse(text: string): Document {
  const document = parseDocument(text)
  const [fault] = document.errors
  if (fault !== undefined) {
    const line = fault.linePos?.[0].line
    throw new SyntaxError(`${line === undefined ? '' : `line ${line}: `}${fault.message.split('\n', 1)[0] ?? ''}`)
  }
  return document
}

function edit(text: string, edits: readonly Edit[]): string {
  const document = parse(text)
  if (document.contents === null) document.contents = document.createNode({})
  for (const { path, to } of edits) document.setIn(path, document.createNode(to))
  // Long lines stay one line, and lists stay at the margin where they stood there.
  const written = document.toString({ lineWidth: 0, indentSeq: !/^[\w'"-]+:[ \t]*\r?\n- /m.test(text) })
  return text.includes('\r\n') ? written.replaceAll(/\r?\n/g, '\r\n') : written
}
