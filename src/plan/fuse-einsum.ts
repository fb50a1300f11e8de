import { altered, type Call } from '../bind/call.ts'
import type { Equation } from '../op-kit/equation.ts'
import { areDims, isFloat32, type PlanGraph, shapeOf } from './graph.ts'
import type { Pattern } from './match.ts'
import { standardCall } from './patterns.ts'

/** How the second of two matrices lies, where Einsum of two values is a product of the matrices in each batch. */
function productOf({ inputs, known }: Call, graph: PlanGraph): 'plain' | 'transposed' | undefined {
  const { terms, output } = known.equation as Equation
  const [a, b] = terms
  if (terms.length !== 2 || output === undefined || a.length < 3 || b.length !== a.length) return undefined
  const labels = new Set([...a, ...b])
  const batch = a.slice(0, -2)
  const [row, depth] = a.slice(-2)
  const isTransposed = b.at(-1) === depth
  const column = isTransposed ? b.at(-2)! : b.at(-1)!
  const expected = [
    [...batch, ...(isTransposed ? [column, depth] : [depth, column])],
    [...batch, row, column]
  ]
  const isProduct =
    labels.size === batch.length + 3 &&
    !labels.has('...') &&
    [b, output].every((term, i) => term.every((label, at) => label === expected[i][at]) && term.length === a.length)
  // Einsum lets an axis of one element stand for all, also one that is summed over.
  const [x, y] = inputs.map(id => shapeOf(graph, id))
  const isServed = isProduct && x && y && inputs.every(id => isFloat32(graph, id))
  const isEqual = isServed && areDims([x.at(-1)!], [y.at(isTransposed ? -1 : -2)!])
  return isEqual ? (isTransposed ? 'transposed' : 'plain') : undefined
}

/** `bhqd,bhkd->bhqk` and `bhqk,bhkd->bhqd` are products of matrices, around which attention is found. */
export const einsumPattern: Pattern = {
  name: 'einsum product',
  calls: { einsum: { ops: ['Einsum'], where: (call, graph) => productOf(call, graph) !== undefined } },
  root: 'einsum',
  fuse({ calls }, graph) {
    const { call } = calls.get('einsum')!
    const product = standardCall(graph, call, { type: 'MatMul', opset: 13, inputs: call.inputs })
    const transposeB = productOf(call, graph) === 'transposed'
    return product && { call: altered(product, { known: { ...product.known, transposeB } }) }
  }
}
