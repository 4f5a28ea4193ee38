import type { Skill } from '../example.ts'
import { arithmetic } from './arithmetic.ts'
import { classify } from './classify.ts'
import { extract } from './extract.ts'
import { greeting } from './greeting.ts'
import { identity } from './identity.ts'
import { lists } from './lists.ts'
import { offDomain } from './off-domain.ts'
import { product } from './product-answers.ts'
import { summarize } from './summarize.ts'
import { toolAnswer, toolCall, toolNone } from './tools.ts'

export const skills: readonly Skill[] = [
  greeting,
  identity,
  product,
  offDomain,
  classify,
  extract,
  summarize,
  arithmetic,
  lists,
  toolCall,
  toolAnswer,
  toolNone,
]
