import { altered } from '../bind/call.ts'
import { swapsRowsAndColumns } from './fuse-attention.ts'
import { isFloat32, positionOf, shapeOf } from './graph.ts'
import type { Pattern } from './match.ts'
import { shared } from './patterns.ts'

/**
 * A product by a constant matrix that a Transpose turns is a product which turns it, as IR has it: the kernel packs the
 * constant once, where the Transpose would run each time. PyTorch's newer exporter leaves a Transpose of weights that
 * others read as they are, such as an embedding that also makes the scores of the words.
 */
export const transposedPattern: Pattern = {
  name: 'transposed weights',
  calls: {
    turned: shared({ ops: ['Transpose'], where: swapsRowsAndColumns, reads: { data: 'weights' } }),
    product: {
      ops: ['MatMul'],
      where: ({ known }) => known.transposeB === false && known.movesB !== true,
      reads: { b: 'turned' }
    }
  },
  root: 'product',
  guard({ values }, graph) {
    const weights = values.get('weights')!
    return graph.constantOf(weights) !== undefined && shapeOf(graph, weights)?.length === 2 && isFloat32(graph, weights)
  },
  fuse({ calls, values }) {
    const { call } = calls.get('product')!
    const inputs = call.inputs.with(positionOf(call, 'b'), values.get('weights'))
    return { call: altered(call, { inputs, known: { ...call.known, transposeB: true } }) }
  }
}
