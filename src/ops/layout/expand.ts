import { fail } from '../../errors.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { choice, derive, inputInts, is, optionalInput } from '../../op-kit/sources.ts'
import { INDEX_TYPES } from '../../op-kit/types.ts'
import { broadcastShapes, type Dim, mayMatch, meetDims, printDim, printShape } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { type DataDependentList, knownList, shapeFrom } from '../../shapes/lists.ts'
import { stridesOf } from '../../tensor/tensor.ts'

type Mode = 'bidirectional' | 'numpy' | 'explicit'

interface Params {
  shape: DataDependent<readonly number[]>
  mode: Mode
  /** In mode explicit: the output axis of each axis of the data. */
  axes: DataDependent<readonly number[] | undefined>
}

const types = { shape: INDEX_TYPES, axes: INDEX_TYPES }
const mode1 = choice<Mode>('mode', { numpy: 'numpy', explicit: 'explicit', none: 'explicit' })
const mode3 = choice<Mode>('mode', { numpy: 'numpy', explicit: 'explicit', bidirectional: 'bidirectional' })
const mode3OrNumpy = derive(
  ({ node, get }) => (node.attributes.has('mode') ? (get(mode3) ?? 'numpy') : 'numpy'),
  mode => ({ mode })
)
const inputs = { shape: inputInts(1), axes: optionalInput(inputInts(2)) }

/**
 * Broadcasts data to a shape. ONNX Expand-8, -13 and OpenVINO's mode `bidirectional`: the shape is broadcast to the
 * data, too. OpenVINO Broadcast-1, -3: `numpy` (only the data are broadcast), `explicit` (each axis of the data is
 * mapped to an output axis, in ascending order). Without a mode Broadcast-3 is `numpy`, as documented and as in
 * OpenVINO 2026.4; Broadcast-1 is `explicit`.
 */
export const expand = defineOp({
  name: 'Expand',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 8, bind: { shape: inputInts(1), mode: is('bidirectional'), axes: is(undefined) } }],
  openvino: [
    { type: 'Broadcast', since: 1, types, bind: { ...inputs, mode: mode1 } },
    { type: 'Broadcast', since: 3, types, bind: { ...inputs, mode: mode3OrNumpy } }
  ],
  moves: ['data'],

  shape({ data }, p) {
    if (p.mode === 'explicit' && p.axes === undefined)
      fail('wrong-input-count', 'mode explicit needs the third input, axes_mapping')
    if (p.shape === 'unknown') return [tensorFact(data.type, undefined)]
    const target = shapeFrom(p.shape, 'the shape')
    if (p.mode === 'bidirectional') return [tensorFact(data.type, broadcastShapes([data.shape, target]))]
    if (data.shape === undefined) return [tensorFact(data.type, target)]
    return [
      tensorFact(
        data.type,
        broadcastTo(data.shape, target, outputAxes(data.shape.length, target.length, p.mode, p.axes))
      )
    ]
  },

  *run({ data }, p, call) {
    const out = call.rawOutput()
    const from = stridesOf(data.dims)
    const to = stridesOf(out.dims)
    const axes = outputAxes(data.dims.length, out.dims.length, p.mode, p.axes) ?? []
    const loops = out.dims.map((count, i) => ({ count, from: 0, to: to[i] }))
    axes.forEach((axis, i) => {
      if (data.dims[i] !== 1) loops[axis].from = from[i]
    })
    yield* copyStrided(data, out, loops)
  }
})

/** The output axis of each axis of the data; undefined when not known. */
function outputAxes(
  rank: number,
  outRank: number,
  mode: Mode,
  list: DataDependentList | undefined
): readonly number[] | undefined {
  if (mode !== 'explicit') {
    if (rank > outRank)
      fail('rank-mismatch', `the shape has ${outRank} elements, fewer than the data's rank of ${rank}`)
    return Array.from({ length: rank }, (_, i) => i + outRank - rank)
  }
  if (list !== undefined && list !== 'unknown' && list.length !== rank) {
    fail('dims-mismatch', `axes_mapping has ${list.length} elements; the data have rank ${rank}`)
  }
  const axes = knownList(list)
  const wrong = axes?.find((axis, i) => axis < 0 || axis >= outRank || (i > 0 && axis <= axes[i - 1]))
  if (wrong !== undefined)
    fail('value-out-of-range', `axes_mapping [${axes?.join(', ')}] must rise within 0..${outRank - 1}`)
  return axes
}

/** The output shape; each dim of the data is 1 or that of the target. */
function broadcastTo(dims: readonly Dim[], target: readonly Dim[], axes: readonly number[] | undefined): Dim[] {
  const result = [...target]
  axes?.forEach((axis, i) => {
    if (mayMatch(dims[i], 1)) return
    const met = meetDims(target[axis], dims[i])
    if (met === undefined) {
      const why = `dim ${i} is ${printDim(dims[i])}, neither 1 nor ${printDim(target[axis])}`
      fail('shape-mismatch', `data of shape ${printShape(dims)} do not fit the shape ${printShape(target)}: ${why}`)
    }
    result[axis] = met
  })
  return result
}
