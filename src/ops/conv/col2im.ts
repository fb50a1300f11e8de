import { fail } from '../../errors.ts'
import { addBlocks } from '../../kernels/conv/patches.ts'
import { type DataDependent, params, type ShapeParams } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { inputInts, is } from '../../op-kit/sources.ts'
import { INDEX_TYPES, NUMERIC } from '../../op-kit/types.ts'
import { onnxWindows, openvinoWindows } from '../../op-kit/window-sources.ts'
import {
  type Dim,
  floorDivDims,
  isConcrete,
  mayMatch,
  printDim,
  printShape,
  productOf,
  unknownDim
} from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { knownList, lengthOf, sizesOf, unknownDims } from '../../shapes/lists.ts'
import { axisValues, blockAxes, slidings, windowCount, type WindowParams } from '../../shapes/window.ts'
import { product } from '../../tensor/tensor.ts'

interface Params extends WindowParams {
  image: DataDependent<readonly number[]>
  block: DataDependent<readonly number[]>
}

const types = { x: [...NUMERIC, 'bool'] as const, image: INDEX_TYPES, block: INDEX_TYPES }
const inputs = { image: inputInts(1), block: inputInts(2), autoPad: is('explicit') } as const

/** Rules of {@link col2im}. */
export const col2imRules = defineRules({
  name: 'Col2Im',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 18, bind: { ...onnxWindows, ...inputs } }],
  openvino: [{ since: 15, types, bind: { ...openvinoWindows, ...inputs } }],

  shape({ x }, p, { dialect }) {
    if (x.type === 'string') fail('type-not-allowed', 'strings cannot be added')
    const minRank = dialect === 'onnx' ? 3 : 2
    checkRank('the blocks', x, minRank, 3)
    const rank = imageRank(p)
    if (dialect === 'openvino' && rank !== undefined && rank !== 2)
      fail('dims-mismatch', `the image has ${rank} dims; OpenVINO's Col2Im makes images of 2`)
    if ((x.shape === undefined && minRank < 3) || rank === undefined) return [tensorFact(x.type, undefined)]
    const [rows, count] = x.shape?.slice(-2) ?? [unknownDim(), unknownDim()]
    const image = p.image === 'unknown' ? (unknownDims(rank) ?? []) : sizesOf(p.image, 'the image shape')
    const block = knownList(p.block)
    const batch = x.shape?.slice(0, -2) ?? [unknownDim()]
    return [tensorFact(x.type, [...batch, channelsOf(rows, block), ...checkedImage(image, block, count, p)])]
  }
})

/**
 * Adds blocks to the image that they were cut from. Blocks are numbered in row-major order of their positions. ONNX
 * Col2Im-18; OpenVINO Col2Im-15, where the batch may be missing.
 */
export const col2im = /* @__PURE__ */ withKernel(col2imRules, {
  run({ x }, { block, ...p }, call) {
    const out = call.output()
    return addBlocks(x, out, blockAxes(out.dims, block, p))
  }
})

/** Number of spatial axes; undefined where neither list has a known length. */
function imageRank({ image, block }: ShapeParams<Params>): number | undefined {
  const lengths = [lengthOf(image), lengthOf(block)]
  if (lengths[0] !== undefined && lengths[1] !== undefined && lengths[0] !== lengths[1]) {
    fail('dims-mismatch', `the image has ${lengths[0]} dims and the block ${lengths[1]}; they must agree`)
  }
  const rank = lengths[0] ?? lengths[1]
  if (rank === 0) fail('value-out-of-range', 'the image has no dims')
  return rank
}

function channelsOf(rows: Dim, block: readonly number[] | undefined): Dim {
  if (block === undefined) return unknownDim()
  const size = product(axisValues(block, block.length, 'the block shape', 1))
  if (typeof rows === 'number' && rows % size !== 0) {
    fail('shape-mismatch', `${rows} rows are no whole number of blocks of ${size} elements`)
  }
  return floorDivDims(rows, size)
}

/** The dims of the image, checked to hold as many blocks as there are. */
function checkedImage(
  image: readonly Dim[],
  block: readonly number[] | undefined,
  count: Dim,
  p: ShapeParams<Params>
): readonly Dim[] {
  const windows = slidings(image.length, p)
  if (block === undefined) return image
  const counts = windows.map((sliding, i) => windowCount(image[i], block[i], sliding))
  const all = productOf(counts)
  if (isConcrete(image) && !mayMatch(all, count)) {
    const fitting = `${printShape(counts)} of ${printShape(block)} fit into ${printShape(image)}`
    fail('shape-mismatch', `there are ${printDim(count)} blocks; ${fitting}`)
  }
  return image
}
