import { fail } from '../../errors.ts'
import { headsInBlocks, headsInRows } from '../../kernels/attention/heads.ts'
import { rotateHeads } from '../../kernels/attention/rotary.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { Pace } from '../../kernels/core/pace.ts'
import { resolveIndices } from '../../kernels/gather/indices.ts'
import { params } from '../../op-kit/define.ts'
import { checkKnownIndices } from '../../op-kit/known-indices.ts'
import { checkRank, sizeOfHeads } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, int, optional } from '../../op-kit/sources.ts'
import { FROM_START } from '../../op-kit/updates.ts'
import { type Dim, floorDivDims, mayMatch, minDim, printShape } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'

interface Params {
  heads: number | undefined
  /** Number of elements of each head that are rotated; 0: all. */
  size: number
  /** Neighbours are rotated as a pair, instead of elements at the same position of the two halves. */
  interleaved: boolean
}

/** Rules of {@link rotaryEmbedding}. */
export const rotaryEmbeddingRules = defineRules({
  name: 'RotaryEmbedding',
  operands: { x: 'tensor', cos: 'tensor', sin: 'tensor', positions: 'optional' },
  params: params<Params>(),
  onnx: [
    {
      since: 23,
      bind: { heads: optional(int('num_heads')), size: int('rotary_embedding_dim'), interleaved: flag('interleaved') }
    }
  ],

  shape({ x, cos, sin, positions }, p) {
    checkRank('the input', x, 3, 4)
    if (x.shape) checkTables(x.shape, { cos_cache: cos, sin_cache: sin }, positions, p)
    return [tensorFact(x.type, x.shape)]
  },

  validate({ cos, positions }) {
    checkKnownIndices(positions, cos, 0, FROM_START)
  }
})

/**
 * Rotates pairs of elements of each head by angles. Their cosines and sines come from tables by position,
 * `[positions, half]`, or for each token, `[batch, sequence, half]`; all batches may share one of the latter, `[1,
 * sequence, half]`, as PyTorch writes it and the reference evaluator of ONNX takes it. ONNX RotaryEmbedding-23.
 */
export const rotaryEmbedding = /* @__PURE__ */ withKernel(rotaryEmbeddingRules, {
  *run({ x, cos, sin, positions }, p, call) {
    const [batches] = x.dims
    const numbers = yield* readNumbers(x)
    const heads = p.heads ?? 1
    const from =
      x.dims.length === 4
        ? headsInBlocks(numbers, x.dims[1], x.dims[2], x.dims[3])
        : headsInRows(numbers, heads, x.dims[1], x.dims[2] / heads)
    const half = (p.size === 0 ? from.size : p.size) / 2
    const rows = positions && resolveIndices(positions, cos.dims[0], 0, FROM_START)
    const angles = { cos: yield* readNumbers(cos), sin: yield* readNumbers(sin), half, interleaved: p.interleaved }
    const target = targetOf(call.output())
    const isShared = !rows && cos.dims[0] === 1
    const at = (batch: number, row: number): number => {
      const token = (isShared ? 0 : batch * from.length) + row
      return half * (rows ? rows[token] : token)
    }
    yield* rotateHeads(from, { ...from, numbers: target.numbers }, batches, angles, at, new Pace())
    yield* target.finish()
  }
})

function checkTables(
  x: readonly Dim[],
  tables: Readonly<Record<string, TensorFact>>,
  positions: TensorFact | undefined,
  p: Params
): void {
  const depth = x.length === 4 ? x[3] : depthOf(x[2], p.heads)
  const half = halfOf(depth, p.size)
  const tokens = [x[0], x[x.length - 2]]
  if (positions) checkShape('position_ids', positions, tokens)
  for (const [name, table] of Object.entries(tables)) {
    checkRank(name, table, positions ? 2 : 3)
    const batches = table.shape?.[0] === 1 ? 1 : tokens[0]
    checkShape(name, table, positions ? [table.shape?.[0] ?? 0, half] : [batches, tokens[1], half])
  }
  const [cos, sin] = Object.values(tables)
  if (cos.shape) checkShape('sin_cache', sin, cos.shape)
}

function depthOf(all: Dim, heads: number | undefined): Dim {
  if (heads === undefined) fail('missing-attribute', 'attribute "num_heads" is missing; an input of rank 3 needs it')
  return sizeOfHeads('the input', all, heads)
}

function halfOf(depth: Dim, size: number): Dim {
  if (size < 0 || size % 2 !== 0)
    fail('unknown-attribute-value', `rotary_embedding_dim is ${size}; expected an even number`)
  if (size === 0 && typeof depth === 'number' && depth % 2 !== 0)
    fail('shape-mismatch', `the heads have ${depth} elements; expected an even number`)
  if (typeof depth === 'number' && size > minDim(depth))
    fail('shape-mismatch', `rotary_embedding_dim is ${size}, the heads have ${depth} elements`)
  return size === 0 ? floorDivDims(depth, 2) : size / 2
}

function checkShape(name: string, { shape }: TensorFact, expected: readonly Dim[]): void {
  if (shape === undefined || (shape.length === expected.length && shape.every((dim, i) => mayMatch(dim, expected[i]))))
    return
  fail('shape-mismatch', `${name} has shape ${printShape(shape)}; expected ${printShape(expected)}`)
}
