import { applyEdits, modify, parse, printParseErrorCode, type FormattingOptions, type ParseError } from 'jsonc-parser'
import type { Edit } from './plan-edits.ts'
import type { SettingsText } from './settings-text.ts'

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
  return { value, edit: (edits) => edits.reduce(applyOne, source) }
}

function applyOne(text: string, { path, from, to }: Edit): string {
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
