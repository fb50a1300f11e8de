import { fail } from '../../errors.ts'
import { copyStrided, type Loop } from '../../kernels/core/copy-strided.ts'
import { type DataDependent, defineOp, params, type ShapeParams } from '../../op-kit/define.ts'
import { inputInt, inputInts, is } from '../../op-kit/sources.ts'
import { type Dim, maxDim, mulDims, normalizeAxis, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { type DataDependentList, shapeFrom, unknownDims } from '../../shapes/lists.ts'
import { dtypesOf } from '../../tensor/dtype.ts'
import { stridesOf } from '../../tensor/tensor.ts'

interface Params {
  /** Number of repetitions of each dim. */
  repeats: DataDependent<readonly number[] | undefined>
  /** ONNX-1 instead: number of repetitions of one axis. */
  tiles: DataDependent<number | undefined>
  axis: DataDependent<number | undefined>
  /** Whether the shorter of dims and repeats is filled with leading ones; otherwise ranks must be equal. */
  promote: boolean
}

/**
 * Repeats `data` along its axes. ONNX Tile-1 (one axis), -6, -13 (NumPy's `tile`, no broadcast); OpenVINO Tile-1 (ranks
 * may differ).
 */
export const tile = defineOp({
  name: 'Tile',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { repeats: is(undefined), tiles: inputInt(1), axis: inputInt(2), promote: is(false) } },
    { since: 6, bind: { repeats: inputInts(1), tiles: is(undefined), axis: is(undefined), promote: is(false) } }
  ],
  openvino: [
    {
      since: 1,
      types: { repeats: dtypesOf('int', 'uint') },
      bind: { repeats: inputInts(1), tiles: is(undefined), axis: is(undefined), promote: is(true) }
    }
  ],
  moves: ['data'],

  shape({ data }, p) {
    const repeats = repeatsOf(data.shape?.length, p)
    if (data.shape === undefined || repeats === undefined) {
      return [tensorFact(data.type, p.promote ? undefined : unknownDims(repeats?.length ?? data.shape?.length))]
    }
    return [
      tensorFact(
        data.type,
        padFront(data.shape, repeats.length).map((dim, i) => mulDims(dim, repeats[i]))
      )
    ]
  },

  *run({ data }, p, call) {
    const out = call.rawOutput()
    const repeats = repeatsOf(data.dims.length, p) as readonly number[]
    const dims = padFront(data.dims, repeats.length)
    const from = stridesOf(dims)
    const to = stridesOf(out.dims)
    const loops = dims.flatMap((dim, i): Loop[] => [
      { count: repeats[i], from: 0, to: dim * to[i] },
      { count: dim, from: from[i], to: to[i] }
    ])
    yield* copyStrided(data, out, loops)
  }
})

const padFront = <D extends Dim>(dims: readonly D[], rank: number): (D | 1)[] => [
  ...new Array<1>(Math.max(0, rank - dims.length)).fill(1),
  ...dims
]

/** Repetitions of each output dim; undefined where the rank is not known. */
function repeatsOf(rank: number | undefined, p: ShapeParams<Params>): readonly Dim[] | undefined {
  const list: DataDependentList = p.repeats ?? alongAxis(rank, p)
  if (list === 'unknown') return undefined
  const repeats = shapeFrom(list, 'the repeats')
  const whole = repeats.find(repeat => typeof repeat === 'number' && !Number.isInteger(repeat))
  if (whole !== undefined) fail('value-out-of-range', `${String(whole)} is no number of repeats`)
  if (!p.promote && rank !== undefined && rank !== repeats.length) {
    fail('dims-mismatch', `there are ${repeats.length} repeats; the data have rank ${rank}`)
  }
  return rank === undefined ? repeats : padFront(repeats, rank)
}

function alongAxis(rank: number | undefined, { tiles, axis }: ShapeParams<Params>): DataDependentList {
  if (rank === undefined || tiles === undefined || axis === undefined) return 'unknown'
  if (typeof axis !== 'number') return Array.from({ length: rank }, () => unknownDim(0, Math.max(1, maxDim(tiles))))
  const at = normalizeAxis(axis, rank)
  return Array.from({ length: rank }, (_, i) => (i === at ? tiles : 1))
}
