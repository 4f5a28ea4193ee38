// Answers that sign somebody in, changed at random after they were signed: as trees, as texts and as bytes. Whatever is
// taken all the same must say of the person, and answer, exactly what was signed.

import { isDeepStrictEqual } from 'node:util'
import { SsoFault } from '../../../src/accounts/single-sign-on/fault.ts'
import { createCertifiedKey } from '../../../src/accounts/single-sign-on/saml/certified-key.ts'
import { checkAnswer, requestOf } from '../../../src/accounts/single-sign-on/saml/messages/check-answer.ts'
import { readResponse } from '../../../src/accounts/single-sign-on/saml/messages/read-response.ts'
import { benignForms } from '../../single-sign-on/saml/benign-forms.ts'
import { providerId, SamlProvider, shapes, type SamlLie } from '../../single-sign-on/saml/saml-provider.ts'
import { elements, isTree, parentOf, write, type XmlTree } from '../../single-sign-on/saml/xml-tree.ts'
import { describeCounts, Failures, increment, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { createRandom, type Random } from '../random.ts'

const nowMs = Date.UTC(2026, 10, 1)
const agreed = {
  issuer: providerId,
  nameIdFormat: 'persistent',
  context: null,
  entityId: 'https://ai.example.com/sso/conn_1/metadata',
  acsUrl: 'https://ai.example.com/sso/conn_1/acs',
} as const
const question = { id: '_question', isForced: false, message: '', ...agreed }
const person = { nameId: 'person-1', email: 'person@acme.example', groups: ['engineers'] }
const moment = { nowMs, skewMs: 60_000, ageMsMax: 600_000 }

type Sample = { readonly name: string; readonly tree: XmlTree; readonly lie: SamlLie; readonly read: unknown }

export async function runSamlMutations({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const provider = await SamlProvider.open(() => nowMs)
  const own = await createCertifiedKey({ name: 'service', nowMs, lastsMs: 86_400_000 })
  const keys = { certificates: [provider.key.certificate], privateKeys: [own.privateKey] }
  const take = (encoded: string) => {
    const answer = readResponse(encoded, keys)
    checkAnswer(answer, agreed, moment)
    return { assertion: answer.assertion, request: requestOf(answer) }
  }
  const samples = createSamples(provider, own.certificate, take)
  const [failures, outcomes, kinds] = [new Failures(), new Map<string, number>(), new Map<string, number>()]
  for (let number = 0; number < count; number++) {
    const random = createRandom(seed, number)
    const sample = random.pick(samples)
    const [kind, encoded] = mutate(random, sample)
    increment(kinds, kind)
    const label = `case ${number}, ${sample.name}, ${kind}`
    try {
      const isSame = isDeepStrictEqual(take(encoded), sample.read)
      increment(outcomes, isSame ? 'says what was signed' : 'says something else')
      if (!isSame) failures.add('It is taken and says something else.', label)
    } catch (error) {
      if (!(error instanceof SsoFault)) failures.add(`It fails: ${String(error).slice(0, 200)}`, label)
      increment(outcomes, error instanceof SsoFault ? error.code : 'fails')
    }
    if ((number + 1) % 10_000 === 0) log(`${number + 1} mutations, ${failures.count} failures`)
  }
  const accepted = outcomes.get('says something else') ?? 0
  const figures = { samples: samples.length, mutations: count, accepted, outcomes: describeCounts(outcomes) }
  return failures.toResult({ ...figures, kinds: describeCounts(kinds) })
}

/** Every form of a provider, and every way to sign and to encrypt. */
function createSamples(provider: SamlProvider, certificate: string, take: (encoded: string) => unknown): Sample[] {
  const ways = shapes.flatMap((shape) => [
    [`signed as ${shape}`, { shape }] as const,
    [`signed as ${shape} and encrypted`, { shape, encrypting: {} }] as const,
  ])
  return [...ways, ...Object.entries(benignForms)].map(([name, lie]: readonly [string, SamlLie]) => {
    let tree: XmlTree | undefined
    const afterwards = (root: XmlTree) => void (tree = structuredClone(root))
    const encoded = provider.respond(question, person, { ...lie, afterwards, certificate })
    if (tree === undefined) throw new Error('It was not made.')
    return { name, tree, lie, read: take(encoded) }
  })
}

type TreeMutation = (random: Random, root: XmlTree) => void

const anyOf = (random: Random, root: XmlTree) => random.pick(elements(root))
const childOf = (random: Random, root: XmlTree) => random.pick(elements(root).slice(1))
const put = (random: Random, parent: XmlTree, child: XmlTree) =>
  parent.children.splice(random.integer(0, parent.children.length), 0, child)

/** What an attacker would like to be read. */
function corrupt(tree: XmlTree): XmlTree {
  const copy = structuredClone(tree)
  for (const one of elements(copy)) {
    if (one.tag.endsWith('NameID')) one.children = ['the-owner']
    if (one.attributes['ID'] !== undefined) one.attributes['ID'] = '_evil'
  }
  return copy
}

const trees: Readonly<Record<string, TreeMutation>> = {
  'an element twice': (random, root) => put(random, anyOf(random, root), structuredClone(childOf(random, root))),
  'an evil copy': (random, root) => put(random, anyOf(random, root), corrupt(childOf(random, root))),
  'an evil copy in its place, and the true one elsewhere'(random, root) {
    const child = childOf(random, root)
    const parent = parentOf(root, child)
    parent.children[parent.children.indexOf(child)] = corrupt(child)
    put(random, anyOf(random, root), child)
  },
  'an element gone'(random, root) {
    const child = childOf(random, root)
    const parent = parentOf(root, child)
    parent.children.splice(parent.children.indexOf(child), 1)
  },
  'an element elsewhere'(random, root) {
    const child = childOf(random, root)
    const parent = parentOf(root, child)
    parent.children.splice(parent.children.indexOf(child), 1)
    put(random, anyOf(random, root), child)
  },
  'an element around'(random, root) {
    const child = childOf(random, root)
    const parent = parentOf(root, child)
    const around = {
      tag: random.pick(['saml:Advice', 'samlp:Extensions', 'ds:Object']),
      attributes: {},
      children: [child],
    }
    parent.children[parent.children.indexOf(child)] = around
  },
  'another name': (random, root) => void (anyOf(random, root).tag = anyOf(random, root).tag),
  'another attribute'(random, root) {
    const tree = anyOf(random, root)
    const name = random.pick([
      ...Object.keys(tree.attributes),
      'ID',
      'Id',
      'xmlns',
      'Algorithm',
      'InResponseTo',
      'Version',
    ])
    const values = elements(root).flatMap((one) => Object.values(one.attributes))
    tree.attributes[name] = random.pick(values)
  },
  'an attribute gone'(random, root) {
    const tree = anyOf(random, root)
    const names = Object.keys(tree.attributes)
    if (names.length > 0) delete tree.attributes[random.pick(names)]
  },
  'another text'(random, root) {
    const tree = anyOf(random, root)
    const texts = elements(root).flatMap(({ children }) => children.filter((child) => typeof child === 'string'))
    tree.children = [random.pick([...texts, 'the-owner', ''])]
  },
  'a piece in a text'(random, root) {
    const withText = elements(root).filter(({ children }) => children.some((child) => !isTree(child)))
    const tree = random.pick(withText.length > 0 ? withText : [root])
    const piece = random.pick([
      { comment: 'x' },
      { cdata: 'x' },
      { raw: '<?x y?>' },
      { raw: '&#0;' },
      { raw: '&x;' },
      ' ',
    ])
    tree.children.splice(random.integer(0, tree.children.length), 0, piece)
  },
}

const tokens = [
  '<!-- -->',
  '<![CDATA[x]]>',
  '<?x y?>',
  '<!DOCTYPE x>',
  '&amp;',
  '&#65;',
  '&x;',
  '<x/>',
  '</saml:Assertion>',
  ' ',
  '\n',
  '\r\n',
  '\t',
  '\0',
  '\u0085',
  '\u2028',
  '\ufeff',
  '"',
  "'",
  '<',
  '>',
  '=',
  ':',
  '#',
  ' xmlns="urn:x"',
  ' ID="_x"',
] as const

const texts: Readonly<Record<string, (random: Random, text: string) => string>> = {
  'a token': (random, text) => splice(text, random.integer(0, text.length), 0, random.pick(tokens)),
  'a character': (random, text) =>
    splice(text, random.integer(0, text.length - 1), 1, String.fromCodePoint(random.integer(0, 0x7f))),
  'a piece gone': (random, text) => splice(text, random.integer(0, text.length), random.integer(1, 60), ''),
  'a piece twice'(random, text) {
    const at = random.integer(0, text.length)
    return splice(text, at, 0, text.slice(at, at + random.integer(1, 300)))
  },
  'two pieces exchanged'(random, text) {
    const [first, second] = [random.integer(0, text.length / 2), random.integer(text.length / 2, text.length)]
    const length = random.integer(1, 40)
    const [one, other] = [text.slice(first, first + length), text.slice(second, second + length)]
    return splice(splice(text, second, length, one), first, length, other)
  },
}

function splice(text: string, at: number, length: number, added: string): string {
  return text.slice(0, at) + added + text.slice(at + length)
}

/** One to three changes of one kind after the other, and now and then one of the bytes. */
function mutate(random: Random, { tree, lie }: Sample): readonly [string, string] {
  const root = structuredClone(tree)
  const isTreeChanged = random.chance(0.6)
  const kind = random.pick(Object.keys(isTreeChanged ? trees : texts))
  const times = random.integer(1, 3)
  // Of what has nothing in it any more nothing can be moved.
  for (let left = isTreeChanged ? times : 0; left > 0 && elements(root).length > 1; left--) trees[kind]?.(random, root)
  const written = lie.text?.(write(root)) ?? write(root)
  let text = typeof written === 'string' ? written : written.toString()
  if (!isTreeChanged) for (let left = times; left > 0; left--) text = texts[kind]?.(random, text) ?? text
  const bytes = Buffer.from(text)
  if (random.chance(0.05)) bytes[random.integer(0, bytes.length - 1)] = random.integer(0, 255)
  return [kind, bytes.toString('base64')]
}
