import { oneOf, type Field } from '../lib/search-codec.ts'
import { modelIds } from './models.ts'

/** One of the models; the empty text is all of them. */
export const anyModel: Field<string> = oneOf(['', ...modelIds], '')
