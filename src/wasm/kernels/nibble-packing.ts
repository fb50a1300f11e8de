import { codeBytes } from '../../kernels/quantized/packed.ts'
import type { Pack, Packed, Parameters } from '../../op-kit/define.ts'
import type { PackContext } from '../../op-kit/pack-context.ts'
import { bytesOf } from '../../tensor/arrays.ts'
import type { NumericArray } from '../../tensor/dtype.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { packByJob } from '../pack.ts'
import { arrayOf } from '../selector.ts'

/** Rows whose words lie beside each other; TOGETHER of ../assembly/coded/nibble-order.ts. */
const TOGETHER = 4
/** Bytes of a word: eight codes, or a scale. */
const WORD = 4

/** Sizes of weights of 4 bits. */
interface NibbleSizes {
  readonly n: number
  readonly k: number
  readonly blockSize: number
}

/**
 * Packs weights of 4 bits, by what their zero points are: the words of four rows lie beside each other, codes, scales
 * and zero points that are numbers alike; others take a byte each. They are packed where they are read to, since with a
 * copy of them they would take twice the memory.
 */
export const packingOf: Readonly<Record<'one' | 'codes' | 'numbers', Pack>> = {
  one: (constants, params, context) => packRows(constants, params, context),
  *codes(constants, params, context) {
    if (!('zeros' in constants)) return undefined
    const rows = yield* packRows(constants, params, context)
    return rows && { ...rows, zeros: packZeros(constants.zeros, sizesOf(params), context) }
  },
  *numbers(constants, params, context) {
    if (!('zeros' in constants)) return undefined
    const rows = yield* packRows(constants, params, context)
    const { n, k, blockSize } = sizesOf(params)
    const zeros = rows && (yield* interleaved('zeros', constants, n, Math.ceil(k / blockSize), context))
    return zeros && { ...rows, zeros }
  }
}

const sizesOf = (params: Parameters): NibbleSizes => params as unknown as NibbleSizes

function* packRows(
  constants: Readonly<Record<string, Tensor>>,
  params: Parameters,
  context: PackContext
): Generator<void, Packed | undefined> {
  if (!('b' in constants && 'scales' in constants)) return undefined
  const { n, k, blockSize } = sizesOf(params)
  const blocks = Math.ceil(k / blockSize)
  const words = (blocks * codeBytes(blockSize, 4)) / WORD
  const b = yield* interleaved('b', constants, n, words, context)
  const scales = b && (yield* interleaved('scales', constants, n, blocks, context))
  return scales && { b, scales }
}

/** @returns undefined when the heap is full */
function* interleaved(
  name: 'b' | 'scales' | 'zeros',
  constants: Readonly<Record<string, Tensor>>,
  n: number,
  words: number,
  context: PackContext
): Generator<void, Tensor | undefined> {
  const groups = Math.ceil(n / TOGETHER)
  const isCoded = name === 'b'
  const own = n % TOGETHER === 0 ? context.takeOver?.(name, isCoded ? 'uint8' : 'float32') : undefined
  const packed = own ?? copied(constants[name], groups, words, context)
  const job = { kernel: 'interleave', blocks: groups, elements: groups * TOGETHER * words } as const
  return yield* packByJob({ ...job, args: [words, Number(isCoded)] }, [packed], packed, context.threads)
}

/** A copy with whole groups of rows. */
function copied({ type, data }: Tensor, groups: number, words: number, context: PackContext): Tensor {
  const elements = type === 'uint8' ? WORD : 1
  const packed = context.allocate(type, [groups, words, TOGETHER, elements])
  const target = arrayOf(packed)
  target.fill(0 as never)
  bytesOf(target).set(bytesOf(data as NumericArray))
  return packed
}

function packZeros({ data }: Tensor, { n, k, blockSize }: NibbleSizes, context: PackContext): Tensor {
  const blocks = Math.ceil(k / blockSize)
  const packed = context.allocate('uint8', [Math.ceil(n / TOGETHER), blocks, TOGETHER])
  const [codes, bytes] = [data, packed.data] as Uint8Array[]
  const ofRow = codeBytes(blocks, 4)
  bytes.fill(0)
  for (let row = 0; row < n; row++) {
    let to = (row - (row % TOGETHER)) * blocks + (row % TOGETHER)
    for (let block = 0; block < blocks; block++, to += TOGETHER)
      bytes[to] = (codes[row * ofRow + (block >> 1)] >> (4 * (block & 1))) & 15
  }
  return packed
}
