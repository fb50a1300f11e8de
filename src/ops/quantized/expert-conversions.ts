import { fail } from '../../errors.ts'
import { numbersOfCodes, rowZeros, unpacked } from '../../op-kit/conversion-codes.ts'
import { type Layer, mixed } from '../../op-kit/conversion-experts.ts'
import { staticDims } from '../../op-kit/conversion-kit.ts'
import { mul, widened, wideType } from '../../op-kit/conversion-parts.ts'
import {
  type Conversion,
  dimsOf,
  expands,
  type Made,
  type SourceCall,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { moe } from '../matrix/moe.ts'
import { qmoe } from './qmoe.ts'

const NAMES = ['first', 'second', 'third'] as const

type Layers = readonly [Layer, Layer, Layer | undefined]

function expandExperts(call: SourceCall, w: Writer): readonly Made[] {
  const layers = NAMES.map(name => {
    const weights = call.optional(name)
    return weights && { weights: widened(w, weights), bias: call.optional(`${name}Bias`) }
  })
  return [mixed(call, w, layers as unknown as Layers, call.param<boolean>('normalizes') ? 'chosen' : 'all')]
}

/** Weights in codes; weights of experts that are not given are the softmax of the chosen scores. */
function expandQuantized(call: SourceCall, w: Writer): readonly Made[] {
  const layers = NAMES.map((name, i) =>
    call.has(name) ? { weights: weightsOf(call, w, i), bias: call.optional(`${name}Bias`) } : undefined
  )
  const given = call.optional('weights')
  const weighing = given ? { given, normalizes: call.param<boolean>('normalizes') } : 'chosen'
  return [mixed(call, w, layers as unknown as Layers, weighing)]
}

function weightsOf(call: SourceCall, w: Writer, index: number): Made {
  const name = NAMES[index]
  const packed = call.operand(name)
  const type = wideType(typeOf(call.operand('x')))
  if (call.param('codes') === 'fp8') {
    const global = index < 2 ? call.optional(`${name}Global`) : undefined
    const numbers = w.cast(packed, type)
    return global ? mul(w, numbers, w.reshape(w.cast(global, type), [-1, 1, 1])) : numbers
  }
  const bits = call.param<readonly number[]>('bits')[index]
  const [experts, rows, bytes] = staticDims(packed, 'the weights')
  const columns = (bytes * 8) / bits
  const scales = call.operand(`${name}Scales`)
  const isByBlock = dimsOf(scales).length === 3
  const given = call.param<number>('blockSize')
  const size = isByBlock && given > 0 ? given : columns
  const blocks = Math.ceil(columns / size)
  const zeros = call.optional(`${name}Zeros`)
  if (blocks * size !== columns) fail('unsupported-op', 'the last block of the weights is smaller than the others')
  const codes = unpacked(w, packed, bits, experts * rows, columns, [experts, rows, blocks, size])
  // Zero points of whole rows are packed along these.
  const each = [experts, rows, blocks, 1]
  const own =
    zeros && !isByBlock ? unpacked(w, zeros, bits, experts, rows, each) : rowZeros(w, zeros, codes, bits, each)
  const numbers = numbersOfCodes(w, { codes, scales: w.reshape(scales, each), zeros: own }, type)
  return w.reshape(numbers, [experts, rows, columns])
}

/** Mixtures of experts. */
export const expertRules: readonly Conversion[] = [...expands(moe, expandExperts), ...expands(qmoe, expandQuantized)]
