import { axisLayout } from '../../kernels/core/axis-layout.ts'
import { storeSelected } from '../../kernels/reduce/top.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { MAX_INT32 } from '../../tensor/dtype.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, runHere, selectorFor, staged } from '../selector.ts'
import { temporaries } from '../temporary.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 10
/** Most items of a line, as in ../assembly/f32/top.ts. */
const MAX_CHOSEN = 16
/** Elements of a tile, which take some 0.05 ms. */
const TILE = 1 << 16
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 8

interface Params {
  readonly k: number
  readonly axis: number
  readonly largest: boolean
  readonly nan: 'last' | 'smallest'
  readonly order: 'value' | 'index'
}

/** TopK of float32 that selects a few elements of each line. */
export const selectTopK = selectorFor<Params>(({ op, operands: { data }, parameters: p }) => {
  if (data?.type !== 'float32' || p.k < 1 || p.k > MAX_CHOSEN) return undefined
  const axis = normalizeAxis(p.axis, data.dims.length)
  const { outer, size, inner } = axisLayout(data.dims, axis)
  if (product(data.dims) < MIN_ELEMENTS || size > MAX_INT32) return undefined
  const count = outer * p.k * inner
  // The arguments are those of TopArguments in ../assembly/f32/top.ts.
  const template: JobTemplate = {
    kernel: 'top',
    blocks: outer,
    blockBytes: p.k * inner * 4,
    tile: Math.max(1, Math.floor(TILE / (size * inner))),
    work: outer * size * inner * ELEMENT_WORK,
    inputs: staged(1),
    outputStaging: 'whole',
    args: [size, inner, p.k, ...[!p.largest, p.nan === 'smallest' && !p.largest, p.order === 'index'].map(Number)]
  }
  return {
    *kernel(given, parameters, context) {
      const x = given.data as Tensor
      const { allocate, free } = temporaries()
      try {
        const room = allocate(count)
        const positions = new Int32Array(room.buffer, room.byteOffset, count)
        if (yield* runHere(template, [arrayOf(x)], positions, context.threads)) {
          const [values, indices] = [0, 1].map(i => (context.wanted(i) ? context.output(i) : undefined))
          yield* storeSelected(x, positions, axis, indices, values)
          return
        }
      } finally {
        free()
      }
      const rest = op.run(given, parameters, context)
      if (rest) yield* rest
    }
  }
})
