import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ArrayWalk } from './array-walk.ts'

/** The elements of an array as they are found where its bytes come in pieces of a size, and what is behind it. */
function elementsOf(text: string, pieceBytes: number): { readonly elements: string[]; readonly rest: string } {
  const json = Buffer.from(text)
  const walk = new ArrayWalk()
  const elements: string[] = []
  let element = ''
  for (let start = 0; start < json.length; start += pieceBytes) {
    const piece = json.subarray(start, start + pieceBytes)
    let from = 0
    for (let end = walk.endOfElement(piece, from); end !== -1; end = walk.endOfElement(piece, from)) {
      elements.push(element + piece.toString('latin1', from, end))
      element = ''
      from = end + 1
      if (piece[end] === 0x5d) return { elements, rest: json.toString('latin1', start + from) }
    }
    element += piece.toString('latin1', from)
  }
  return { elements, rest: element }
}

test('the elements of an array are found whatever they hold and however they come', () => {
  const elements = ['1', '[2,[3]]', '{"a":[1,2],"b":"],}"}', String.raw`"a \" ] , \\"`, ' null ', '[]', '"\\\\"']
  for (const pieceBytes of [1, 2, 5, 1_000])
    deepEqual(
      elementsOf(`${elements.join(',')}],"x":[]}`, pieceBytes),
      { elements, rest: ',"x":[]}' },
      String(pieceBytes),
    )
  deepEqual(elementsOf(']', 1), { elements: [''], rest: '' })
})
