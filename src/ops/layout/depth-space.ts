import { fail } from '../../errors.ts'
import { blockLoops, type BlockParams } from '../../kernels/core/blocks.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { choice, int, is } from '../../op-kit/sources.ts'
import { type Dim, floorDivDims, mulDims, printDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params extends BlockParams {
  /** ONNX allows rank 4 only; undefined: at least 3. */
  rank: 4 | undefined
}

const onnxMode = choice('mode', { DCR: 'blocks-first', CRD: 'depth-first' })
const openvinoMode = choice('mode', { blocks_first: 'blocks-first', depth_first: 'depth-first' })

/**
 * Moves blocks of channels into the spatial dims: `[N, C, D…]` becomes `[N, C / block^K, D * block…]`. ONNX
 * DepthToSpace-1, -11 (mode), -13; OpenVINO DepthToSpace-1 (any number K of spatial dims).
 */
export const depthToSpace = defineOp({
  name: 'DepthToSpace',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { block: int('blocksize'), order: is('blocks-first'), rank: is(4) } },
    { since: 11, bind: { block: int('blocksize'), order: onnxMode, rank: is(4) } }
  ],
  openvino: [{ since: 1, bind: { block: int('block_size'), order: openvinoMode, rank: is(undefined) } }],
  moves: ['data'],

  shape({ data }, p) {
    if (data.shape === undefined) return [tensorFact(data.type, undefined)]
    const size = blockSizeOf(data.shape, p)
    const [batch, depth, ...space] = data.shape
    return [tensorFact(data.type, [batch, divided(depth, size, 'depth'), ...space.map(dim => mulDims(dim, p.block))])]
  },

  *run({ data }, p, call) {
    const out = call.rawOutput()
    yield* copyStrided(data, out, blockLoops(data.dims, out.dims, p))
  }
})

/**
 * Moves blocks of the spatial dims into channels: the reverse of DepthToSpace. ONNX SpaceToDepth-1, -13, -28 (mode);
 * OpenVINO SpaceToDepth-1.
 */
export const spaceToDepth = defineOp({
  name: 'SpaceToDepth',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { block: int('blocksize'), order: is('blocks-first'), rank: is(4) } },
    { since: 28, bind: { block: int('blocksize'), order: onnxMode, rank: is(4) } }
  ],
  openvino: [{ since: 1, bind: { block: int('block_size'), order: openvinoMode, rank: is(undefined) } }],
  moves: ['data'],

  shape({ data }, p) {
    if (data.shape === undefined) return [tensorFact(data.type, undefined)]
    const size = blockSizeOf(data.shape, p)
    const [batch, depth, ...space] = data.shape
    const smaller = space.map((dim, i) => divided(dim, p.block, `spatial dim ${i}`))
    return [tensorFact(data.type, [batch, mulDims(depth, size), ...smaller])]
  },

  *run({ data }, p, call) {
    const out = call.rawOutput()
    yield* copyStrided(
      data,
      out,
      blockLoops(out.dims, data.dims, p).map(({ count, from, to }) => ({ count, from: to, to: from }))
    )
  }
})

/** Checks the block size and the rank. @returns the number of elements in a block */
function blockSizeOf(shape: readonly Dim[], { block, rank }: Params): number {
  if (block < 1) fail('value-out-of-range', `the block size is ${block}; expected at least 1`)
  if (rank === undefined ? shape.length < 3 : shape.length !== rank) {
    fail('rank-mismatch', `the data have rank ${shape.length}; expected ${rank ?? 'at least 3'}`)
  }
  const size = block ** (shape.length - 2)
  return Number.isFinite(size) ? size : fail('limit-exceeded', `a block has ${size} elements`)
}

function divided(dim: Dim, by: number, what: string): Dim {
  if (typeof dim === 'number' && dim % by !== 0)
    fail('shape-mismatch', `${what} ${printDim(dim)} is no multiple of ${by}`)
  return floorDivDims(dim, by)
}
