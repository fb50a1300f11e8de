import { fail } from '../../errors.ts'
import { type Heads, headsInBlocks, headsInRows } from '../../kernels/attention/heads.ts'
import { type Angles, rotateHeads, selectAngles } from '../../kernels/attention/rotary.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { Pace } from '../../kernels/core/pace.ts'
import { checkIndices, reportIndex, resolveIndices } from '../../kernels/gather/indices.ts'
import { params } from '../../op-kit/define.ts'
import { checkRank, meetShape, sizeOfHeads } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, int, ints, is, optional } from '../../op-kit/sources.ts'
import { FROM_START } from '../../op-kit/updates.ts'
import { type Dim, maxDim, mayMatch, minDim, mulDims, printDim, unknownDim } from '../../shapes/dim.ts'
import { knownValue, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { indexReader, type Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'

interface Params {
  /** 0: by the width of the tables. */
  heads: number
  /** Number of elements of each head that are rotated; 0: all. */
  size: number
  interleaved: boolean
  /** Columns of the tables that go by the first, second and third position of a token, where it has three. */
  sections: readonly number[] | undefined
  /** Columns of the sections alternate, instead of following one another. */
  alternates: boolean
}

const common = {
  heads: int('num_heads', 0),
  size: int('rotary_embedding_dim', 0),
  interleaved: flag('interleaved', false)
}

/** Rules of {@link positionRotary}. */
export const positionRotaryRules = defineRules({
  name: 'RotaryEmbedding',
  operands: { x: 'tensor', positions: 'tensor', cos: 'tensor', sin: 'tensor' },
  params: params<Params>(),
  onnx: [
    { domain: 'com.microsoft', since: 1, bind: { ...common, sections: is(undefined), alternates: is(false) } },
    {
      type: 'MRotaryEmbedding',
      domain: 'com.microsoft',
      since: 1,
      bind: { ...common, sections: optional(ints('mrope_section')), alternates: flag('mrope_layout', false) }
    }
  ],

  shape({ x, positions, cos, sin }, p) {
    if (p.size > 0 && p.heads === 0)
      fail('missing-attribute', 'attribute "num_heads" is missing; rotary_embedding_dim needs it')
    checkRank('the input', x, 3, 4)
    if (x.shape) checkOperands(x.shape, positions, cos, sin, p)
    return [tensorFact(x.type, x.shape)]
  },

  validate({ x, positions, cos }) {
    const known = knownValue(positions)
    if (!known || !cos.shape) return
    checkIndices(known, cos.shape[0], 0, FROM_START)
    if (x.shape) checkOffset(known, minDim(x.shape[x.shape.length === 4 ? 2 : 1]), maxDim(cos.shape[0]))
  }
})

/**
 * Rotates pairs of elements of each head by angles, whose cosines and sines come from tables `[positions, half]`:
 * com.microsoft RotaryEmbedding-1, whose positions are given for each token or as the one of the first (a scalar or one
 * element); and MRotaryEmbedding-1, where each token has three positions (time, height, width), each for a section of
 * the columns. `scale` and `is_packed_batching` change nothing, as in ONNX Runtime's CPU kernel.
 */
export const positionRotary = /* @__PURE__ */ withKernel(positionRotaryRules, {
  *run({ x, positions, cos, sin }, p, call) {
    const [batches] = x.dims
    const [limit, half] = cos.dims
    const from = headsOf(yield* readNumbers(x), x.dims, p, half)
    const target = targetOf(call.output())
    const pace = new Pace()
    checkOffset(positions, from.length, limit)
    const rows = resolveIndices(positions, limit, 0, FROM_START)
    const tables = { cos: yield* readNumbers(cos), sin: yield* readNumbers(sin), half, interleaved: p.interleaved }
    const tokens = batches * from.length
    const angles: Angles = p.sections
      ? yield* selectAngles(tables, rows, tokens, streamsOf(p.sections, p.alternates), pace)
      : tables
    const at = (batch: number, row: number): number => {
      const token = batch * from.length + row
      return half * (p.sections ? token : positions.dims.length < 2 ? rows[0] + row : rows[token])
    }
    yield* rotateHeads(from, { ...from, numbers: target.numbers }, batches, angles, at, pace)
    yield* target.finish()
  }
})

const headsOf = (numbers: Numbers, dims: readonly number[], { heads }: Params, half: number): Heads => {
  if (dims.length === 4) return headsInBlocks(numbers, dims[1], dims[2], dims[3])
  const own = heads > 0 ? dims[2] / heads : 2 * half
  return headsInRows(numbers, heads > 0 ? heads : dims[2] / own, dims[1], own)
}

/** Which of its positions each column of the tables goes by. */
function streamsOf([time, height, width]: readonly number[], alternates: boolean): Uint8Array {
  const streams = new Uint8Array(time + height + width)
  if (!alternates) return streams.fill(1, time).fill(2, time + height)
  for (let i = 1; i < Math.min(3 * height, streams.length); i += 3) streams[i] = 1
  for (let i = 2; i < Math.min(3 * width, streams.length); i += 3) streams[i] = 2
  return streams
}

/** Checks the position of the last token where only that of the first is given. */
function checkOffset(positions: Tensor, tokens: number, limit: number): void {
  if (positions.dims.length > 1 || tokens === 0) return
  const last = indexReader(positions)(0) + tokens - 1
  if (!(last < limit)) reportIndex(String(last), [tokens - 1], 0, limit)
}

function checkOperands(
  x: readonly Dim[],
  positions: TensorFact,
  cos: TensorFact,
  sin: TensorFact,
  { heads, size, sections }: Params
): void {
  if (size < 0 || size % 2 !== 0)
    fail('unknown-attribute-value', `rotary_embedding_dim is ${size}; expected an even number`)
  const [limit, half] = meetShape('cos_cache', cos, [unknownDim(), size > 0 ? size / 2 : unknownDim()])
  meetShape('sin_cache', sin, [limit, half])
  const depth = x.length === 4 ? x[3] : heads !== 0 ? sizeOfHeads('the input', x[2], heads) : undefined
  checkDepth(depth, half, size, x)
  if (sections) checkSections(sections, half)
  const expected = [x[0], x[x.length === 4 ? 2 : 1]]
  if (sections) meetShape('position_ids', positions, [3, ...expected])
  else meetShape('position_ids', positions, [[], [1], expected][Math.min(2, positions.shape?.length ?? 2)])
}

/** Checks the size of the heads, which follows from the width of the tables where no number of heads is given. */
function checkDepth(depth: Dim | undefined, half: Dim, size: number, x: readonly Dim[]): void {
  const rotated = mulDims(half, 2)
  if (depth === undefined) {
    const columns = x[2]
    const fits = typeof columns !== 'number' || typeof rotated !== 'number' || (rotated > 0 && columns % rotated === 0)
    if (!fits)
      fail('dims-mismatch', `${columns} columns of the input are no multiple of twice the ${half} of cos_cache`)
  } else if (size === 0 ? !mayMatch(depth, rotated) : maxDim(depth) < size) {
    fail(
      'dims-mismatch',
      `the heads have ${printDim(depth)} elements and cos_cache ${printDim(half)} columns; they do not fit`
    )
  }
}

function checkSections(sections: readonly number[], half: Dim): void {
  const sum = sections.reduce((a, b) => a + b, 0)
  if (sections.length === 3 && Math.min(...sections) >= 0 && mayMatch(half, sum)) return
  fail(
    'unknown-attribute-value',
    `mrope_section is [${sections.join(', ')}]; expected three that add up to ${printDim(half)}`
  )
}
