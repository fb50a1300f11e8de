import { fail } from '../../errors.ts'
import { copyStrided, type Loop } from '../../kernels/core/copy-strided.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { choice, int, is } from '../../op-kit/sources.ts'
import { type Dim, floorDivDims, mulDims, printDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { stridesOf } from '../../tensor/tensor.ts'

interface Params {
  block: number
  /** Whether the block is the outer or the inner part of the depth. */
  order: 'blocks-first' | 'depth-first'
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
    checkRank(data.shape, p)
    const [batch, depth, ...space] = data.shape
    return [
      tensorFact(data.type, [
        batch,
        divided(depth, p.block ** space.length, 'depth'),
        ...space.map(dim => mulDims(dim, p.block))
      ])
    ]
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
    checkRank(data.shape, p)
    const [batch, depth, ...space] = data.shape
    const smaller = space.map((dim, i) => divided(dim, p.block, `spatial dim ${i}`))
    return [tensorFact(data.type, [batch, mulDims(depth, p.block ** space.length), ...smaller])]
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

function checkRank(shape: readonly Dim[], { block, rank }: Params): void {
  if (block < 1) fail('value-out-of-range', `the block size is ${block}; expected at least 1`)
  if (rank === undefined ? shape.length < 3 : shape.length !== rank) {
    fail('rank-mismatch', `the data have rank ${shape.length}; expected ${rank ?? 'at least 3'}`)
  }
}

function divided(dim: Dim, by: number, what: string): Dim {
  if (typeof dim === 'number' && dim % by !== 0)
    fail('shape-mismatch', `${what} ${printDim(dim)} is no multiple of ${by}`)
  return floorDivDims(dim, by)
}

/** Loops that copy from the tensor with the depth (`deep`) to the one with the space (`wide`). */
function blockLoops(deep: readonly number[], wide: readonly number[], { block, order }: Params): Loop[] {
  const from = stridesOf(deep)
  const to = stridesOf(wide)
  const spatial = deep.length - 2
  const blocksFirst = order === 'blocks-first'
  const channelStep = (blocksFirst ? 1 : block ** spatial) * from[1]
  const blockStep = (blocksFirst ? wide[1] : 1) * from[1]
  return [
    { count: wide[0], from: from[0], to: to[0] },
    { count: wide[1], from: channelStep, to: to[1] },
    ...deep.slice(2).flatMap((dim, i): Loop[] => [
      { count: dim, from: from[i + 2], to: block * to[i + 2] },
      { count: block, from: blockStep * block ** (spatial - 1 - i), to: to[i + 2] }
    ])
  ]
}
