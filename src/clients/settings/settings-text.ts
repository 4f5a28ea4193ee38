import { applyEdits, modify, parse, printParseErrorCode, type FormattingOptions, type ParseError } from 'jsonc-parser'
import { parseDocument, type Document } from 'yaml'
import type { Edit } from './plan-edits.ts'

/** The text of a settings file, understood. */
export type SettingsText = {
  readonly value: unknown
  /** The text with these changes; everything else, comments too, stays where it is. */
  edit(edits: readonly Edit[]): string
}

/** JSON as a client takes it: plain, or with comments and commas at the ends of lists. */
export function readJson(text: string, dialect: 'json' | 'jsonc'): SettingsText {
  const isPlain = dialect === 'json'
  // An empty file is what some editors leave of a settings file that was never used.
  const source = text.trim() === '' ? '{}\n' : text
  const faults: ParseError[] = []
  const value: unknown = parse(source, faults, { disallowComments: isPlain, allowTrailingComma: !isPlain })
  const [fault] = faults
  if (fault !== undefined) {
    const line = source.slice(0, fault.offset).split('\n').length
    throw new SyntaxError(`line ${line}: ${printParseErrorCode(fault.error)}`)
  }
  return { value, edit: (edits) => edits.reduce(editJson, source) }
}

function editJson(text: string, { path, from, to }: Edit): string {
  const isNewItem = from === undefined && typeof path.at(-1) === 'number'
  const options = { formattingOptions: formattingOf(text), isArrayInsertion: isNewItem }
  return applyEdits(text, modify(text, [...path], to, options))
}

/** New lines look as the others do. */
function formattingOf(text: string): FormattingOptions {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }
}

/** YAML; its comments and its order stay. */
export function readYaml(text: string): SettingsText {
  const document = parseYaml(text)
  return {
    // A file of comments alone has no value.
    value: document.contents === null ? {} : (document.toJS() as unknown),
    edit: (edits) => editYaml(text, edits),
  }
}

function parseYaml(text: string): Document {
  const document = parseDocument(text)
  const [fault] = document.errors
  if (fault !== undefined) {
    const line = fault.linePos?.[0].line
    throw new SyntaxError(`${line === undefined ? '' : `line ${line}: `}${fault.message.split('\n', 1)[0] ?? ''}`)
  }
  return document
}

function editYaml(text: string, edits: readonly Edit[]): string {
  const document = parseYaml(text)
  if (document.contents === null) document.contents = document.createNode({})
  for (const { path, to } of edits) document.setIn(path, document.createNode(to))
  // Long lines stay one line, and lists stay at the margin where they stood there.
  const written = document.toString({ lineWidth: 0, indentSeq: !/^[\w'"-]+:[ \t]*\r?\n- /m.test(text) })
  return text.includes('\r\n') ? written.replaceAll(/\r?\n/g, '\r\n') : written
}
