import { stringify } from 'yaml'
import type { SettingsFile } from '../client.ts'
import { applyEdits, planEdits, type SettingsTree } from './plan-edits.ts'

/** A file with nothing but these settings. */
export function renderSettings(syntax: SettingsFile['syntax'], settings: SettingsTree): string {
  return syntax === 'yaml' ? stringify(settings, { lineWidth: 0 }) : `${JSON.stringify(settings, null, 2)}\n`
}

/** What a client's file says where it had none. */
export function renderNewFile({ syntax, settings, defaults }: SettingsFile): string {
  return renderSettings(syntax, applyEdits({}, planEdits({}, settings, defaults)) as SettingsTree)
}
