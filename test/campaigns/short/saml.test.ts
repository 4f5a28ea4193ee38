import { test } from 'node:test'
import { runShort } from '../run-short.ts'
import { runSamlMutations } from '../saml/saml-mutations.ts'

test('an answer of a provider that was changed after it was signed says what was signed, or nothing', () =>
  runShort(runSamlMutations, 1_000))
