import { fail } from '../../errors.ts'
import {
  elementwise,
  expanded,
  joined,
  shapeOf,
  sliced,
  transposed,
  unsqueezed,
  upTo
} from '../../op-kit/conversion-kit.ts'
import { add } from '../../op-kit/conversion-parts.ts'
import {
  counted,
  extremeSize,
  floorDivSizes,
  listParameter,
  mulSizes,
  productOfSizes,
  reshapedBy,
  type Size,
  sizeAt,
  sizeList,
  sizeParameter,
  sizesOf,
  sizesParameter,
  subSizes
} from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  dimsOf,
  type Made,
  opNamed,
  rankOf,
  type SourceCall,
  toOnnx,
  toOpenvino,
  type Writer
} from '../../op-kit/conversion.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import type { DType } from '../../tensor/dtype.ts'
import { batchToSpace, spaceToBatch } from './batch-space.ts'
import { eyeOps } from './eye.ts'
import { padToOnnx, padToOpenvino } from './pad-conversion.ts'
import { pad } from './pad.ts'
import { reverse } from './reverse.ts'
import { roll } from './roll.ts'
import { shuffleChannels } from './shuffle-channels.ts'
import { sliceScatter } from './slice-scatter.ts'

/** Beyond every size. */
const FAR = Number.MAX_SAFE_INTEGER

/** The spatial axes, with the lists of a call of BatchToSpace or SpaceToBatch. */
function blocksOf(call: SourceCall, w: Writer): Record<'block' | 'begin' | 'end', Size[]> & { count: number } {
  const rank = rankOf(call.operand('data'))
  const list = (name: string): Size[] => sizesParameter(call, name, w, rank)
  return {
    block: list('block').slice(1),
    begin: list('begin'),
    end: list('end'),
    count: rank - 1
  }
}

/** The batch is split into blocks, which go behind their axes; then the axes are cropped. */
function batchToSpaceToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const { block, begin, end, count } = blocksOf(call, w)
  const [batch, ...space] = sizesOf(w, data)
  const outer = floorDivSizes(w, batch, productOfSizes(w, block))
  const split = reshapedBy(w, data, [...block, outer, ...space])
  const moved = transposed(w, split, [count, ...upTo(count).flatMap(i => [count + 1 + i, i])])
  const full = space.map((size, i) => mulSizes(w, size, block[i]))
  const whole = reshapedBy(w, moved, [outer, ...full])
  const ends = full.map((size, i) => subSizes(w, size, end[i + 1]))
  return [sliced(w, whole, sizeList(w, begin.slice(1)), sizeList(w, ends), upTo(count, 1))]
}

/** The axes are padded; then their blocks go before the batch. */
function spaceToBatchToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const { block, begin, end, count } = blocksOf(call, w)
  const data = w.node('Pad', [call.operand('data'), sizeList(w, [...begin, ...end])])
  const [batch, ...space] = sizesOf(w, data)
  const parts = space.map((size, i) => floorDivSizes(w, size, block[i]))
  const split = reshapedBy(w, data, [batch, ...parts.flatMap((part, i) => [part, block[i]])])
  const cells = upTo(count)
  const moved = transposed(w, split, [...cells.map(i => 2 + 2 * i), 0, ...cells.map(i => 1 + 2 * i)])
  return [reshapedBy(w, moved, [mulSizes(w, batch, productOfSizes(w, block)), ...parts])]
}

function reverseToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const listed = call.param<readonly number[]>('axes')
  const axes =
    call.param('mode') === 'mask' ? listed.flatMap((flag, axis) => (flag === 0 ? [] : [axis])) : [...new Set(listed)]
  if (axes.length === 0) return [data]
  const all = (value: number): Made =>
    sizeList(
      w,
      axes.map(() => value)
    )
  return [sliced(w, data, all(-1), all(-FAR), axes, all(-1))]
}

/** Both parts of an axis change places. */
function rollToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  let data = call.operand('data')
  const rank = rankOf(data)
  const shifts = sizesParameter(call, 'shift', w)
  const axes = call.param<readonly number[]>('axes').map(axis => normalizeAxis(axis, rank))
  axes.forEach((axis, i) => {
    if (dimsOf(data)[axis] === 0) return
    // Axes that are empty only while the model runs are divided by 1.
    const size = extremeSize(w, 'Max', sizeAt(w, data, axis), 1)
    const back = subSizes(w, 0, shifts[shifts.length === 1 ? 0 : i])
    const at =
      typeof back === 'number' && typeof size === 'number'
        ? ((back % size) + size) % size
        : w.node('Mod', [sizeList(w, [back]), sizeList(w, [size])])
    const [from, to] = [sizeList(w, [at]), w.constant('int64', [FAR])]
    data = joined(w, [sliced(w, data, from, to, [axis]), sliced(w, data, w.constant('int64', [0]), from, [axis])], axis)
  })
  return [data]
}

/** Ones where the column is the row moved by the diagonal. */
function eyeToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const size = (name: string): Size => sizeParameter(call, name, w)
  const [rows, columns] = [size('rows'), size('columns')]
  const row = add(w, counted(w, 0, rows), sizeList(w, [size('diagonal')]))
  const isOne = elementwise(w, 'Equal', unsqueezed(w, row, [1]), counted(w, 0, columns))
  const matrix = w.cast(isOne, call.param<DType>('type'))
  const batch = listParameter(call, 'batch', w)
  if (dimsOf(batch)[0] === 0) return [matrix]
  return [expanded(w, matrix, joined(w, [batch, sizeList(w, [rows, columns])], 0))]
}

/** The positions of the slice are found by slicing all positions; the updates are written there. */
function sliceScatterToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const [data, updates] = [call.operand('data'), call.operand('updates')]
  const sizes = sizesOf(w, data)
  const places = reshapedBy(w, counted(w, 0, productOfSizes(w, sizes)), sizes)
  const [starts, ends, steps] = ['starts', 'ends', 'steps'].map(name => listParameter(call, name, w))
  const hasAxes = !call.knows('axes') || call.param('axes') !== undefined
  const [count] = dimsOf(starts)
  if (!hasAxes && typeof count !== 'number') return fail('unsupported-op', 'the number of axes is not known')
  const axes = hasAxes ? listParameter(call, 'axes', w) : w.constant('int64', upTo(count as number))
  const sliceOf = w.node('Slice', [places, starts, ends, axes, steps])
  const [flat, at, values] = [data, sliceOf, updates].map(one => w.reshape(one, [-1]))
  return [reshapedBy(w, w.node('ScatterElements', [flat, at, values], { axis: 0 }), sizes)]
}

function shuffleChannelsToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const rank = rankOf(data)
  const axis = normalizeAxis(call.param('axis'), rank)
  const group = call.param<number>('group')
  const sizes = sizesOf(w, data)
  const split = reshapedBy(w, data, [
    ...sizes.slice(0, axis),
    group,
    floorDivSizes(w, sizes[axis], group),
    ...sizes.slice(axis + 1)
  ])
  const order = [...upTo(axis), axis + 1, axis, ...upTo(rank - axis - 1, axis + 2)]
  return [reshapedBy(w, transposed(w, split, order), sizes)]
}

/** Squeeze of IR where it is known only while the model runs which dims are 1: a Reshape to those that are left. */
export function openSqueezeToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const rank = rankOf(data)
  const shape = shapeOf(w, data)
  const isOther = elementwise(w, 'Not', elementwise(w, 'Equal', shape, w.scalar('int64', 1)))
  const hasAxes = !call.knows('axes') || (call.param<readonly number[] | undefined>('axes') ?? []).length > 0
  if (!hasAxes) return [leftOf(w, data, shape, isOther)]
  const axes = listParameter(call, 'axes', w)
  const positive = w.node('Mod', [axes, w.scalar('int64', rank)])
  const equal = elementwise(w, 'Equal', unsqueezed(w, w.constant('int64', upTo(rank)), [1]), positive)
  const isListed = w.node('ReduceMax', [w.cast(equal, 'int32'), w.constant('int64', [1])], { keepdims: false })
  // An empty list, which is for all dims, has a maximum below zero.
  const stays = elementwise(w, 'Equal', isListed, w.scalar('int32', 0))
  return [leftOf(w, data, shape, elementwise(w, 'Or', isOther, stays))]
}

const leftOf = (w: Writer, data: Made, shape: Made, stays: Made): Made =>
  w.node('Reshape', [data, w.node('Compress', [shape, stays], { axis: 0 })], { allowzero: true })

/** Blocks of any number of spatial dims by a reshape, a transpose and another reshape. */
export const depthSpaceToOnnx =
  (toSpace: boolean) =>
  (call: SourceCall, w: Writer): readonly Made[] => {
    const data = call.operand('data')
    const block = call.param<number>('block')
    const isDepthFirst = call.param('order') === 'depth-first'
    const [batch, depth, ...space] = sizesOf(w, data)
    const count = space.length
    const blocks = space.map(() => block)
    const size = block ** count
    if (toSpace) {
      const outer = floorDivSizes(w, depth, size)
      const split = isDepthFirst ? [batch, outer, ...blocks, ...space] : [batch, ...blocks, outer, ...space]
      const [depthAt, blockAt] = isDepthFirst ? [1, 2] : [1 + count, 1]
      const order = [0, depthAt, ...upTo(count).flatMap(i => [2 + count + i, blockAt + i])]
      const moved = transposed(w, reshapedBy(w, data, split), order)
      return [reshapedBy(w, moved, [batch, outer, ...space.map(dim => mulSizes(w, dim, block))])]
    }
    const parts = space.map(dim => floorDivSizes(w, dim, block))
    const cells = upTo(count)
    const split = reshapedBy(w, data, [batch, depth, ...parts.flatMap(part => [part, block])])
    const blockAxes = cells.map(i => 3 + 2 * i)
    const order = [0, ...(isDepthFirst ? [1, ...blockAxes] : [...blockAxes, 1]), ...cells.map(i => 2 + 2 * i)]
    return [reshapedBy(w, transposed(w, split, order), [batch, mulSizes(w, depth, size), ...parts])]
  }

/** Operators that move elements and that one dialect lacks. */
export const moveRules: readonly Conversion[] = [
  toOnnx(pad, padToOnnx),
  toOpenvino(pad, padToOpenvino),
  toOnnx(batchToSpace, batchToSpaceToOnnx),
  toOnnx(spaceToBatch, spaceToBatchToOnnx),
  toOnnx(reverse, reverseToOnnx),
  toOnnx(roll, rollToOnnx),
  toOnnx(opNamed(eyeOps, 'Eye'), eyeToOnnx),
  toOnnx(sliceScatter, sliceScatterToOnnx),
  toOnnx(shuffleChannels, shuffleChannelsToOnnx)
]
