import { fail } from '../../errors.ts'
import { readNumbers } from '../../kernels/core/numbers.ts'
import { checkIndices } from '../../kernels/gather/indices.ts'
import { productWithCoded } from '../../kernels/quantized/coded-product.ts'
import {
  blockRows,
  codeBytes,
  codePerBlock,
  middleOf,
  numberPerBlock,
  type PerBlock
} from '../../kernels/quantized/packed.ts'
import { checkCodeWidth } from '../../op-kit/coded.ts'
import { params } from '../../op-kit/define.ts'
import { checkForms, checkLastDim } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { int } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { FROM_START } from '../../op-kit/updates.ts'
import { knownValue, tensorFact } from '../../shapes/fact.ts'
import { Tensor } from '../../tensor/tensor.ts'

interface Params {
  /** Columns and rows of the weights. */
  k: number
  n: number
  bits: number
  blockSize: number
  prepacked: number
  /** Permission to round A: 4 to integers of 8 bits, in blocks. The reference kernel makes no use of it. */
  accuracyLevel: number
}

const blocksOf = ({ k, blockSize }: Params): number => Math.ceil(k / blockSize)

/** Rules of {@link matmulNBits}. */
export const matmulNBitsRules = defineRules({
  name: 'MatMulNBits',
  operands: { a: 'tensor', b: 'tensor', scales: 'tensor', zeros: 'optional', blockOf: 'optional', bias: 'optional' },
  params: params<Params>(),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      bind: {
        k: int('K'),
        n: int('N'),
        bits: int('bits'),
        blockSize: int('block_size'),
        prepacked: int('weight_prepacked'),
        accuracyLevel: int('accuracy_level')
      }
    }
  ],

  shape({ a, b, scales, zeros, blockOf, bias }, p) {
    checkParams(p)
    const { k, n, bits, blockSize } = p
    const blocks = blocksOf(p)
    checkForms('B', b, [n, blocks, codeBytes(blockSize, bits)])
    checkForms('scales', scales, [n, blocks], [n * blocks])
    if (zeros?.type === 'uint8') {
      const width = codeBytes(blocks, bits)
      checkForms('zero_points', zeros, [n, width], [n * width])
    } else if (zeros?.type !== undefined) checkForms('zero_points', zeros, [n, blocks], [n * blocks])
    if (blockOf) checkForms('g_idx', blockOf, [k], [blocks * blockSize])
    if (bias) checkForms('bias', bias, [n])
    checkLastDim('A', a, k)
    const numbers = { A: a, scales, bias, zero_points: zeros?.type === 'uint8' ? undefined : zeros }
    return [tensorFact(commonType(numbers), a.shape && [...a.shape.slice(0, -1), n])]
  },

  validate({ blockOf }, p) {
    const known = blockOf && knownValue(blockOf)
    if (known) checkBlocks(known, p)
  }
})

/**
 * `A W^T + bias` with weights in blocks of 2, 4 or 8-bit codes: `W[n, k] = (code - zero point) * scale` of the block,
 * which is `k / block_size` or `g_idx[k]`. Zero points are codes themselves, or numbers of A's type; without them it is
 * the middle of the codes. A last block that K does not fill holds more codes, which count for nothing. MatMulNBits-1
 * of com.microsoft. `accuracy_level` is a permission to round, of which this kernel makes no use. ONNX Runtime ignores
 * zero points that are codes where there is g_idx; here they are those of the block that g_idx names.
 */
export const matmulNBits = /* @__PURE__ */ withKernel(matmulNBitsRules, {
  *run({ a, b, scales, zeros, blockOf, bias }, p, call) {
    const { k, n, bits, blockSize } = p
    const blocks = blocksOf(p)
    if (blockOf) checkBlocks(blockOf, p)
    const weights = blockRows({
      rows: n,
      columns: k,
      codes: b.data as Uint8Array,
      bits,
      start: 0,
      rowBytes: blocks * codeBytes(blockSize, bits),
      blockSize,
      scaleOf: numberPerBlock(yield* readNumbers(scales), 0, blocks),
      zeroOf: zeros ? yield* zerosOf(zeros, blocks, bits) : middleOf(bits),
      blockOf: blockOf?.data as Int32Array | undefined
    })
    yield* productWithCoded(a, weights, true, bias, call.output())
  }
})

function* zerosOf(zeros: Tensor, blocks: number, bits: number): Generator<void, PerBlock> {
  return zeros.type === 'uint8'
    ? codePerBlock(zeros.data, 0, blocks, bits)
    : numberPerBlock(yield* readNumbers(zeros), 0, blocks)
}

function checkParams({ k, n, bits, blockSize, prepacked }: Params): void {
  for (const [name, size] of Object.entries({ K: k, N: n }))
    if (size < 0) fail('value-out-of-range', `${name} is ${size}; expected 0 or more`)
  checkCodeWidth('bits', bits)
  if (blockSize < 16 || blockSize > 2 ** 31 || !Number.isInteger(Math.log2(blockSize)))
    fail('value-out-of-range', `block_size is ${blockSize}; expected a power of two from 16 on`)
  if (prepacked !== 0)
    fail('unknown-attribute-value', `weight_prepacked is ${prepacked}: weights in the order of a device; expected 0`)
}

/** Checks the blocks of all columns; what follows them is not read. @throws NodewiseError `index-out-of-range` */
const checkBlocks = (blockOf: Tensor, p: Params): void =>
  checkIndices(new Tensor('int32', (blockOf.data as Int32Array).subarray(0, p.k), [p.k]), blocksOf(p), 1, FROM_START)
