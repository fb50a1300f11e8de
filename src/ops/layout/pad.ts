import { fail } from '../../errors.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import { type AxisTable, copyByTables, tableOf } from '../../kernels/core/copy-tables.ts'
import type { AxisIndices } from '../../kernels/image/resample.ts'
import { type DataDependent, defineOp, params, type ShapeParams } from '../../op-kit/define.ts'
import { choice, float, inputInts, inputRow, ints, is, optionalInput } from '../../op-kit/sources.ts'
import { commonType, INDEX_TYPES } from '../../op-kit/types.ts'
import { addDims, asDim, type Dim, normalizeAxes, printDim } from '../../shapes/dim.ts'
import { type Movable, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { type DataDependentList, knownList, unknownDims } from '../../shapes/lists.ts'
import { convert } from '../../tensor/convert.ts'
import { elementCount, stridesOf, Tensor } from '../../tensor/tensor.ts'

type Mode = 'constant' | 'edge' | 'reflect' | 'symmetric' | 'wrap'

interface Params {
  /** ONNX: the pads at the beginning of all axes, then those at the end. */
  pads: DataDependent<readonly number[] | undefined>
  /** OpenVINO: the same as two lists. */
  begin: DataDependent<readonly number[] | undefined>
  end: DataDependent<readonly number[] | undefined>
  /** The axes that the pads are for; undefined: all. */
  axes: DataDependent<readonly number[] | undefined>
  mode: Mode
  /** Fill value of mode constant where the fill operand is missing. */
  value: number
  /** Whether pads may be negative, which crops. */
  negative: boolean
  /** What a negative size of the output is: an error, or 0. */
  belowZero: 'error' | 'empty'
  /** Whether reflection continues at the other edge, as in NumPy; otherwise pads are limited by the dim. */
  reflectAgain: boolean
}

const onnxModes = { constant: 'constant', reflect: 'reflect', edge: 'edge' } as const
const onnx = { begin: is(undefined), end: is(undefined), belowZero: is('error'), reflectAgain: is(true) } as const
const byAttribute = {
  ...onnx,
  axes: is(undefined),
  mode: choice<Mode>('mode', onnxModes),
  value: float('value')
} as const
const byInput = {
  ...onnx,
  pads: inputInts(1),
  mode: choice<Mode>('mode', onnxModes),
  value: is(0),
  negative: is(true)
} as const
const allModes = choice<Mode>('mode', { ...onnxModes, wrap: 'wrap' })
const axes = optionalInput(inputInts(3))
const openvino = {
  pads: is(undefined),
  begin: inputInts(1),
  end: inputInts(2),
  axes: is(undefined),
  mode: choice<Mode>('pad_mode', { constant: 'constant', edge: 'edge', reflect: 'reflect', symmetric: 'symmetric' }),
  value: is(0),
  belowZero: is('empty'),
  reflectAgain: is(false)
} as const
const types = { begin: INDEX_TYPES, end: INDEX_TYPES }

/**
 * Pads axes, or crops them where a pad is negative. ONNX Pad-1, -2 (attributes), -11, -13 (inputs), -18 (axes), -19
 * (`wrap`, which PyTorch writes in models of opset 18, too, and ONNX Runtime runs there); com.microsoft Pad-1 (pads may
 * be a matrix of one row); OpenVINO Pad-1, -12 (negative pads). Modes other than constant read from the whole data,
 * also from what a negative pad crops (OpenVINO Pad-12 shows it; ONNX Runtime crops first, which differs for `wrap`).
 */
export const pad = defineOp({
  name: 'Pad',
  operands: { data: 'tensor', fill: 'optional' },
  params: params<Params>(),
  onnx: [
    { since: 1, in: { data: 0 }, bind: { ...byAttribute, pads: ints('paddings'), negative: is(false) } },
    { since: 2, in: { data: 0 }, bind: { ...byAttribute, pads: ints('pads'), negative: is(true) } },
    { since: 11, in: { data: 0, fill: 2 }, bind: { ...byInput, axes: is(undefined) } },
    { since: 18, in: { data: 0, fill: 2 }, bind: { ...byInput, axes, mode: allModes } },
    {
      domain: 'com.microsoft',
      since: 1,
      in: { data: 0, fill: 2 },
      bind: { ...byInput, pads: inputRow(1), axes: is(undefined), mode: allModes }
    }
  ],
  openvino: [
    { since: 1, in: { data: 0, fill: 3 }, types, bind: { ...openvino, negative: is(false) } },
    { since: 12, in: { data: 0, fill: 3 }, types, bind: { ...openvino, negative: is(true) } }
  ],
  moves: ['data', 'fill'],

  shape({ data, fill }, p) {
    checkFill(fill)
    const pads = padsOf(data.shape?.length, p)
    const type = commonType({ data, fill })
    if (data.shape === undefined) return [tensorFact(type, unknownDims(pads?.begin.length))]
    if (pads === undefined) return [tensorFact(type, unknownDims(data.shape.length))]
    return [
      tensorFact(
        type,
        data.shape.map((dim, i) => paddedDim(dim, pads.begin[i], pads.end[i], i, p))
      )
    ]
  },

  *run({ data, fill }, p, call) {
    const out = call.output()
    const { begin, end } = padsOf(data.dims.length, p) as Pads<number>
    if (p.mode !== 'constant') {
      // What a negative pad crops is read all the same, and a pad longer than its axis has many runs.
      if (data.dims.some((dim, axis) => [begin[axis], end[axis]].some(pad => pad < 0 || pad > dim)))
        return yield* copyByTables(data, out, yield* tablesOf(data.dims, out.dims, begin, p.mode))
      yield* copyInside(data, out, begin)
      return yield* repeatAround(out, data.dims, begin, p.mode)
    }
    const value = fill ?? (p.value === 0 ? undefined : convert(new Tensor('float32', [p.value], []), data.type))
    if (value) yield* copyStrided(value, out, [{ count: elementCount(out.dims), from: 0, to: 1 }])
    yield* copyInside(data, out, begin)
  },

  *resampling(from, to, p) {
    const { mode } = p
    const { begin } = padsOf(from.length, p) as Pads<number>
    if (mode === 'constant') return { kind: 'inside', begin, value: p.value }
    const axes: AxisIndices[] = []
    for (const [axis, count] of to.entries()) {
      if (count === from[axis] && begin[axis] === 0) continue
      const indices = yield* tableOf(count, i => SOURCE[mode](i - begin[axis], from[axis]))
      axes.push({ axis, indices: Int32Array.from(indices) })
    }
    return { kind: 'indices', axes }
  }
})

interface Pads<D extends Dim = Dim> {
  readonly begin: readonly D[]
  readonly end: readonly D[]
}

function checkFill(fill: TensorFact | undefined): void {
  const shape = fill?.shape
  if (shape && (shape.length > 1 || (typeof shape[0] === 'number' && shape[0] !== 1))) {
    const found = shape.length > 1 ? `rank ${shape.length}` : `${String(shape[0])} elements`
    fail('rank-mismatch', `the value to pad with has ${found}; expected a scalar`)
  }
}

/** Pads of every axis; undefined when they are not known. */
function padsOf(rank: number | undefined, p: ShapeParams<Params>): Pads | undefined {
  const given = p.pads === undefined ? twoLists(p) : halves(p.pads)
  if (given === undefined) return undefined
  checkSigns(given, p.negative)
  if (p.axes === undefined) {
    if (rank !== undefined && given.begin.length !== rank) {
      fail('dims-mismatch', `there are pads for ${given.begin.length} axes; the data have rank ${rank}`)
    }
    return given
  }
  if (p.axes !== 'unknown' && p.axes.length !== given.begin.length) {
    fail('dims-mismatch', `there are pads for ${given.begin.length} axes and ${p.axes.length} axes`)
  }
  const axes = knownList(p.axes)
  if (rank === undefined || axes === undefined) return undefined
  const begin = new Array<Dim>(rank).fill(0)
  const end = new Array<Dim>(rank).fill(0)
  normalizeAxes(axes, rank).forEach((axis, i) => {
    begin[axis] = given.begin[i]
    end[axis] = given.end[i]
  })
  return { begin, end }
}

function halves(pads: DataDependentList): Pads | undefined {
  if (pads === 'unknown') return undefined
  if (pads.length % 2 !== 0) fail('dims-mismatch', `pads has ${pads.length} elements; two an axis are expected`)
  return { begin: pads.slice(0, pads.length / 2), end: pads.slice(pads.length / 2) }
}

function twoLists({ begin = 'unknown', end = 'unknown' }: ShapeParams<Params>): Pads | undefined {
  if (begin === 'unknown' || end === 'unknown') return undefined
  if (begin.length !== end.length) {
    fail('dims-mismatch', `pads_begin has ${begin.length} elements and pads_end ${end.length}; they must agree`)
  }
  return { begin, end }
}

function checkSigns({ begin, end }: Pads, negative: boolean): void {
  const below = negative ? undefined : [...begin, ...end].find(pad => typeof pad === 'number' && pad < 0)
  if (below !== undefined)
    fail('value-out-of-range', `a pad is ${printDim(below)}; this version takes no negative ones`)
}

function paddedDim(dim: Dim, begin: Dim, end: Dim, axis: number, p: ShapeParams<Params>): Dim {
  if (typeof dim === 'number' && typeof begin === 'number' && typeof end === 'number')
    checkReach(dim, Math.max(begin, end), axis, p)
  const size = addDims(addDims(dim, begin), end)
  if (typeof size === 'number' && size < 0 && p.belowZero === 'error') {
    fail(
      'shape-mismatch',
      `pads ${printDim(begin)} and ${printDim(end)} take more away than axis ${axis} of size ${printDim(dim)} has`
    )
  }
  return asDim(size)
}

/** Checks that the data have the elements that the padding repeats. */
function checkReach(dim: number, pad: number, axis: number, { mode, reflectAgain }: ShapeParams<Params>): void {
  if (mode === 'constant' || pad <= 0) return
  if (dim === 0) fail('value-out-of-range', `axis ${axis} has no elements to pad with in mode ${mode}`)
  const maxPad = mode === 'reflect' ? dim - 1 : dim
  if (!reflectAgain && (mode === 'reflect' || mode === 'symmetric') && pad > maxPad) {
    fail(
      'value-out-of-range',
      `a pad of ${pad} is too large for axis ${axis} of size ${dim}; mode ${mode} allows ${maxPad}`
    )
  }
}

/** Copies the data into the output between the pads. */
function* copyInside(data: Movable, out: Movable, begin: readonly number[]): Generator<void> {
  const from = stridesOf(data.dims)
  const to = stridesOf(out.dims)
  let fromStart = 0
  let toStart = 0
  const loops = data.dims.map((dim, i) => {
    const first = Math.max(0, begin[i])
    fromStart += Math.max(0, -begin[i]) * from[i]
    toStart += first * to[i]
    return { count: Math.max(0, Math.min(out.dims[i], begin[i] + dim) - first), from: from[i], to: to[i] }
  })
  yield* copyStrided(data, out, loops, fromStart, toStart)
}

type Repeating = Exclude<Mode, 'constant'>

/** Fills what lies around the data in `out` with elements of `out`, one axis after the other, the last one first. */
function* repeatAround(
  out: Movable,
  dims: readonly number[],
  begin: readonly number[],
  mode: Repeating
): Generator<void> {
  const steps = stridesOf(out.dims)
  for (let axis = dims.length - 1; axis >= 0; axis--) {
    const step = steps[axis]
    const sourceOf = (at: number): number => begin[axis] + SOURCE[mode](at - begin[axis], dims[axis])
    // Around axes before this one nothing is filled yet.
    const inside = dims.slice(0, axis).map((count, i) => ({ count, from: steps[i], to: steps[i] }))
    const start = inside.reduce((sum, { to }, i) => sum + begin[i] * to, 0)
    const runs = [...runsOf(0, begin[axis], sourceOf), ...runsOf(begin[axis] + dims[axis], out.dims[axis], sourceOf)]
    for (const { at, from, stride, count } of runs) {
      const loops = [...inside, { count, from: stride * step, to: step }, { count: step, from: 1, to: 1 }]
      yield* copyStrided(out, out, loops, start + from * step, start + at * step)
    }
  }
}

/** Runs of positions `at … end - 1` whose sources are a stride apart. */
function* runsOf(
  at: number,
  end: number,
  sourceOf: (at: number) => number
): Generator<{ at: number; from: number; stride: number; count: number }> {
  for (let count = 1; at < end; at += count) {
    const from = sourceOf(at)
    const stride = at + 1 < end ? sourceOf(at + 1) - from : 1
    count = 1
    while (at + count < end && sourceOf(at + count) === from + count * stride) count++
    yield { at, from, stride, count }
  }
}

function* tablesOf(
  dims: readonly number[],
  outDims: readonly number[],
  begin: readonly number[],
  mode: Repeating
): Generator<void, AxisTable[]> {
  const from = stridesOf(dims)
  const to = stridesOf(outDims)
  const tables: AxisTable[] = []
  for (const [axis, count] of outDims.entries()) {
    const source = SOURCE[mode]
    tables.push({
      from: yield* tableOf(count, i => source(i - begin[axis], dims[axis]) * from[axis]),
      to: yield* tableOf(count, i => i * to[axis])
    })
  }
  return tables
}

const modulo = (a: number, b: number): number => ((a % b) + b) % b

/** The index that is read for index `at`, which is counted from the first element of the data. */
const SOURCE: Readonly<Record<Repeating, (at: number, size: number) => number>> = {
  edge: (at, size) => Math.min(Math.max(at, 0), size - 1),
  wrap: modulo,
  reflect: (at, size) => (size === 1 ? 0 : size - 1 - Math.abs(size - 1 - modulo(at, 2 * (size - 1)))),
  symmetric: (at, size) => {
    const within = modulo(at, 2 * size)
    return within < size ? within : 2 * size - 1 - within
  }
}
