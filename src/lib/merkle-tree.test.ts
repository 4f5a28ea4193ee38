import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRandom } from '../../test/campaigns/random.ts'
import {
  GrowingTree,
  emptyRoot,
  hashLeaf,
  hashNode,
  isConsistent,
  proveConsistency,
  proveInclusion,
  rootOf,
  rootOfInclusion,
  type SubtreeReader,
  type TreeHash,
} from './merkle-tree.ts'

const leaves = Array.from({ length: 300 }, (_, index) => hashLeaf(Buffer.from(`leaf ${index}`)))

const read: SubtreeReader = (level, index) => Promise.resolve(subtree(level, index))

const known = new Map<string, TreeHash>()

function subtree(level: number, index: number): TreeHash {
  if (level === 0) return leaves[index] ?? fail(index)
  const place = `${level}/${index}`
  const hash = known.get(place) ?? hashNode(subtree(level - 1, index * 2), subtree(level - 1, index * 2 + 1))
  known.set(place, hash)
  return hash
}

function fail(index: number): never {
  throw new Error(`There is no leaf ${index}.`)
}

describe('the Merkle tree of RFC 6962', () => {
  it('has the roots that the test vectors of certificate transparency name', async () => {
    // The eight leaves and roots are those of the reference implementation of RFC 6962.
    const entries = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
    const roots = [
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
      'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
      '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
      'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
      '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
    ]
    const tree = new GrowingTree()
    equal(tree.root().toString('hex'), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
    for (const [index, entry] of entries.entries()) {
      tree.add(hashLeaf(Buffer.from(entry, 'hex')))
      equal(tree.root().toString('hex'), roots[index])
    }
  })

  it('has the same root however it is computed', async () => {
    const tree = new GrowingTree()
    deepEqual(await rootOf(0, read), emptyRoot)
    for (const [index, leaf] of leaves.entries()) {
      tree.add(leaf)
      deepEqual(await rootOf(index + 1, read), tree.root())
    }
  })

  it('proves every leaf of every size, and no other leaf, place or size', async () => {
    for (const size of [1, 2, 3, 7, 8, 9, 100]) {
      const root = await rootOf(size, read)
      for (let index = 0; index < size; index += 1) {
        const proof = await proveInclusion(index, size, read)
        const leaf = leaves[index] ?? fail(index)
        deepEqual(rootOfInclusion(leaf, { index, size, proof }), root)
        const others = [
          rootOfInclusion(leaves[index + 1] ?? fail(index), { index, size, proof }),
          rootOfInclusion(leaf, { index: index === 0 ? size : index - 1, size, proof }),
          rootOfInclusion(leaf, { index, size, proof: [...proof, leaf] }),
          proof.length === 0 ? null : rootOfInclusion(leaf, { index, size, proof: proof.slice(1) }),
        ]
        for (const other of others) ok(other === null || !other.equals(root), `${index} of ${size}`)
      }
    }
  })

  it('proves that a larger tree begins with a smaller one, and nothing else', async () => {
    const random = createRandom(1)
    for (let size = 1; size <= 70; size += 1) {
      for (let oldSize = 1; oldSize <= size; oldSize += 1) {
        const [oldRoot, root] = [await rootOf(oldSize, read), await rootOf(size, read)]
        const proof = await proveConsistency(oldSize, size, read)
        ok(isConsistent({ oldSize, oldRoot, size, root, proof }), `${oldSize} in ${size}`)
        const wrong = hashLeaf(Buffer.from([random.integer(0, 255)]))
        ok(!isConsistent({ oldSize, oldRoot: wrong, size, root, proof }))
        ok(!isConsistent({ oldSize, oldRoot, size, root, proof: [...proof, wrong] }))
        if (oldSize < size) ok(!isConsistent({ oldSize, oldRoot, size, root: wrong, proof }))
        if (proof.length > 0) ok(!isConsistent({ oldSize, oldRoot, size, root, proof: proof.slice(1) }))
      }
    }
    ok(isConsistent({ oldSize: 0, oldRoot: emptyRoot, size: 5, root: await rootOf(5, read), proof: [] }))
    ok(!isConsistent({ oldSize: 6, oldRoot: emptyRoot, size: 5, root: emptyRoot, proof: [] }))
  })
})
