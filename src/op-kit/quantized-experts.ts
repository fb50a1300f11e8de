import { readNumbers } from '../kernels/core/numbers.ts'
import type { Routing } from '../kernels/matrix/experts.ts'
import { ceilDivDims, type Dim } from '../shapes/dim.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { type ExpertParams, routingOf } from './experts.ts'

/** Parameters of a mixture of experts whose weights are codes. */
export interface QuantizedExpertParams extends ExpertParams {
  /** Codes of a block, which has a scale of its own; 0: a row is one block. */
  readonly blockSize: number
  /** Bits of a code in fc1, fc2 and fc3. */
  readonly bits: readonly number[]
  readonly prepacked: number
  /** Whether weights are codes of integers or 8-bit floats. */
  readonly codes: 'int' | 'fp8'
}

/** The operands of a layer. */
export interface QuantizedLayer<T> {
  readonly name: string
  readonly weights: T
  readonly scales: T | undefined
  readonly bias: T | undefined
  readonly zeros: T | undefined
  /** A number for each expert. */
  readonly global: T | undefined
}

type Part = 'first' | 'second' | 'third'
type LayerOperand = Part | `${Part}${'Scales' | 'Bias' | 'Zeros'}` | `${'first' | 'second'}Global`

/** The operands of all layers, layer by layer. */
export const quantizedLayersOf = <T>(
  of: { readonly [K in LayerOperand]?: T | undefined } & { readonly first: T; readonly second: T }
): readonly [QuantizedLayer<T>, QuantizedLayer<T>, QuantizedLayer<T> | undefined] => [
  {
    name: 'fc1',
    weights: of.first,
    scales: of.firstScales,
    bias: of.firstBias,
    zeros: of.firstZeros,
    global: of.firstGlobal
  },
  {
    name: 'fc2',
    weights: of.second,
    scales: of.secondScales,
    bias: of.secondBias,
    zeros: of.secondZeros,
    global: of.secondGlobal
  },
  of.third && {
    name: 'fc3',
    weights: of.third,
    scales: of.thirdScales,
    bias: of.thirdBias,
    zeros: of.thirdZeros,
    global: undefined
  }
]

/** Blocks of a row, where there are scales of blocks. */
export const expertBlocks = (columns: Dim, { blockSize }: QuantizedExpertParams): Dim =>
  blockSize > 0 ? ceilDivDims(columns, blockSize) : 1

/** @param given weights of the experts, where they are not the softmax of the chosen scores */
export function* quantizedRoutingOf(
  scores: Tensor,
  given: Tensor | undefined,
  experts: number,
  p: ExpertParams
): Generator<void, Routing> {
  const weighing = given && { given: yield* readNumbers(given), normalizes: p.normalizes }
  return { ...(yield* routingOf(scores, experts, p)), weighing: weighing ?? 'chosen' }
}
