import { createRequire } from 'node:module'
import type { stringify } from 'yaml'
import type { SettingsFile } from '../client.ts'
import { applyEdits, planEdits, type SettingsTree } from './plan-edits.ts'

type YamlLibrary = { readonly stringify: typeof stringify }

/** Loaded when a text in YAML is first wanted: of those who ask the service hardly anybody wants one. */
const loadYaml = () => createRequire(import.meta.url)('yaml') as YamlLibrary

/** A file with nothing but these settings. */
export function renderSettings(syntax: SettingsFile['syntax'], settings: SettingsTree): string {
  return syntax === 'yaml' ? loadYaml().stringify(settings, { lineWidth: 0 }) : `${JSON.stringify(settings, null, 2)}\n`
}

/** What a client's file says where it had none. */
export function renderNewFile({ syntax, settings, defaults }: SettingsFile): string {
  return renderSettings(syntax, applyEdits({}, planEdits({}, settings, defaults)) as SettingsTree)
}
