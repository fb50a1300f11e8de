import { fail } from '../../errors.ts'
import { copyByTables } from '../../kernels/core/copy-tables.ts'
import { type DataDependent, defineOp, params, type ShapeParams } from '../../op-kit/define.ts'
import { checkRankAtLeast } from '../../op-kit/ranks.ts'
import { inputInts } from '../../op-kit/sources.ts'
import { INDEX_TYPES } from '../../op-kit/types.ts'
import { addDims, asDim, type Dim, floorDivDims, mulDims, printDim, productOf, subDims } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { unknownDims } from '../../shapes/lists.ts'
import { stridesOf } from '../../tensor/tensor.ts'

interface Params {
  block: DataDependent<readonly number[]>
  /** Elements to crop (SpaceToBatch: to pad) at the beginning and the end of each axis. */
  begin: DataDependent<readonly number[]>
  end: DataDependent<readonly number[]>
}

const version = {
  since: 2,
  types: { block: INDEX_TYPES, begin: INDEX_TYPES, end: INDEX_TYPES },
  bind: { block: inputInts(1), begin: inputInts(2), end: inputInts(3) }
}

/** Moves blocks of the batch into the other axes, then crops those axes: OpenVINO BatchToSpace-2. */
export const batchToSpace = defineOp({
  name: 'BatchToSpace',
  operands: { data: 'tensor' },
  params: params<Params>(),
  openvino: [version],
  moves: ['data'],

  shape: ({ data }, p) =>
    movedFacts(data, p, (dim, i, { block, begin, end }) =>
      i === 0
        ? divided(dim, productOf(block), 'the batch')
        : cropped(mulDims(dim, block[i]), addDims(begin[i], end[i]), i)
    ),

  *run({ data }, { block, begin }, call) {
    const out = call.output()
    if (out.data.length === 0) return
    const tables = blockTables(out.dims, data.dims, block, begin)
    yield* copyByTables(
      data,
      out,
      tables.map(({ wide, deep }) => ({ from: deep, to: wide }))
    )
  }
})

/** Pads all axes but the batch with zeros, then moves blocks of them into the batch: OpenVINO SpaceToBatch-2. */
export const spaceToBatch = defineOp({
  name: 'SpaceToBatch',
  operands: { data: 'tensor' },
  params: params<Params>(),
  openvino: [version],
  moves: ['data'],

  shape: ({ data }, p) =>
    movedFacts(data, p, (dim, i, { block, begin, end }) =>
      i === 0
        ? mulDims(dim, productOf(block))
        : divided(addDims(dim, addDims(begin[i], end[i])), block[i], `padded axis ${i}`)
    ),

  *run({ data }, { block, begin }, call) {
    const out = call.output()
    if (out.data.length === 0) return
    const tables = blockTables(data.dims, out.dims, block, begin)
    yield* copyByTables(
      data,
      out,
      tables.map(({ wide, deep }) => ({ from: wide, to: deep }))
    )
  }
})

/** The fact of the one output, whose dims `moved` computes where the lists are known. */
function movedFacts(
  data: TensorFact,
  p: ShapeParams<Params>,
  moved: (dim: Dim, axis: number, lists: Lists) => Dim
): [TensorFact] {
  checkRankAtLeast('the data', data, 2)
  const { type, shape } = data
  const lists = checkedLists(shape, p)
  const dims = shape && lists ? shape.map((dim, i) => moved(dim, i, lists)) : unknownDims(shape?.length)
  return [tensorFact(type, dims)]
}

interface Lists {
  readonly block: readonly Dim[]
  readonly begin: readonly Dim[]
  readonly end: readonly Dim[]
}

function checkedLists(
  shape: readonly Dim[] | undefined,
  { block, begin, end }: ShapeParams<Params>
): Lists | undefined {
  if (block === 'unknown' || begin === 'unknown' || end === 'unknown') return undefined
  const lists = [
    ['block_shape', block, 1],
    ['the list of the beginnings', begin, 0],
    ['the list of the ends', end, 0]
  ] as const
  for (const [name, list, least] of lists) {
    if (shape !== undefined && list.length !== shape.length) {
      fail('dims-mismatch', `${name} has ${list.length} elements; the data have rank ${shape.length}`)
    }
    const low = list.find(item => typeof item === 'number' && item < least)
    if (low !== undefined) fail('value-out-of-range', `${name} holds ${printDim(low)}; expected at least ${least}`)
    if (typeof list[0] === 'number' && list[0] !== least) {
      fail('value-out-of-range', `${name} holds ${list[0]} for the batch; expected ${least}`)
    }
  }
  return { block, begin, end }
}

function divided(dim: Dim, by: Dim, what: string): Dim {
  if (typeof dim === 'number' && typeof by === 'number' && dim % by !== 0) {
    fail('shape-mismatch', `${what} of size ${dim} is no multiple of ${by}`)
  }
  return asDim(floorDivDims(dim, by))
}

function cropped(dim: Dim, crop: Dim, axis: number): Dim {
  const left = subDims(dim, crop)
  if (typeof left === 'number' && left < 0) {
    fail('value-out-of-range', `crops of ${printDim(crop)} are more than axis ${axis} has: ${printDim(dim)}`)
  }
  return asDim(left)
}

/** Offsets along each axis in both tensors; `deep` is the one whose batch holds the blocks. */
function blockTables(
  wide: readonly number[],
  deep: readonly number[],
  block: readonly number[],
  begin: readonly number[]
): { wide: Float64Array; deep: Float64Array }[] {
  const wideStrides = stridesOf(wide)
  const deepStrides = stridesOf(deep)
  const blockStrides = stridesOf(block).map(stride => stride * wide[0] * deepStrides[0])
  return wide.map((count, axis) => ({
    wide: Float64Array.from({ length: count }, (_, i) => i * wideStrides[axis]),
    deep: Float64Array.from({ length: count }, (_, i) => {
      const at = i + begin[axis]
      return Math.floor(at / block[axis]) * deepStrides[axis] + (at % block[axis]) * blockStrides[axis]
    })
  }))
}
