import { fail } from '../../errors.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { ints, optional } from '../../op-kit/sources.ts'
import { asDim, type Dim, maxDim, printDim, subDims } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { stridesOf } from '../../tensor/tensor.ts'

interface Params {
  /** What is cut off: left, top, right, bottom. */
  border: readonly number[] | undefined
  /** Height and width of what is left from the left and top borders on; the other borders then say nothing. */
  scale: readonly number[] | undefined
}

/** Cuts the borders of images `[N, C, H, W]` off. ONNX Crop-1, which ONNX removed. */
export const crop = defineOp({
  name: 'Crop',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 1, bind: { border: optional(ints('border')), scale: optional(ints('scale')) } }],
  moves: ['data'],

  shape({ data }, { border = [], scale = [] }) {
    checkRank('the input', data, 4)
    checkSizes('border', border, [4])
    checkSizes('scale', scale, [0, 2])
    if (data.shape === undefined) return [tensorFact(data.type, undefined)]
    const [left, top, right, bottom] = border
    const [batch, channels, height, width] = data.shape
    const rows = remaining('height', height, top, scale[0] ?? bottom)
    const columns = remaining('width', width, left, scale[1] ?? right)
    return [tensorFact(data.type, [batch, channels, ...(scale.length > 0 ? scale : [rows, columns])])]
  },

  *run({ data }, { border }, call) {
    const out = call.output()
    const from = stridesOf(data.dims)
    const to = stridesOf(out.dims)
    const [left, top] = border!
    const loops = out.dims.map((count, i) => ({ count, from: from[i], to: to[i] }))
    yield* copyStrided(data, out, loops, top * from[2] + left)
  }
})

function checkSizes(name: string, list: readonly number[], lengths: readonly number[]): void {
  if (!lengths.includes(list.length) || list.some(size => size < 0))
    fail('unknown-attribute-value', `attribute "${name}" is [${list.join(', ')}]; ${lengths.at(-1)} sizes are expected`)
}

/** What is left of a dim when both sizes are taken from it. */
function remaining(name: string, dim: Dim, first: number, second: number): Dim {
  if (maxDim(dim) < first + second)
    fail('dims-mismatch', `the ${name} is ${printDim(dim)}; ${first} and ${second} do not fit into it`)
  return asDim(subDims(dim, first + second))
}
