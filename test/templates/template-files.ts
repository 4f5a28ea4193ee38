// Templates of open models. Most may not be copied here: they lie outside the repository and may not be at hand.
// `ODYSSEY_TEMPLATES` names a folder of others that every test of templates is then run over.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

type TemplateFile = { readonly name: string; readonly source: string }

const own = join(import.meta.dirname, '../fixtures/templates')
const others = process.env['ODYSSEY_TEMPLATES'] ?? join(import.meta.dirname, '../../../shared/templates')

export const hasOtherTemplates = existsSync(others)

export const templateFiles: readonly TemplateFile[] = [own, others]
  .filter((folder) => existsSync(folder))
  .flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.jinja'))
      .map((name) => ({ name: basename(name, '.jinja'), source: readFileSync(join(folder, name), 'utf8') })),
  )
