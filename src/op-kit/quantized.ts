import { fail } from '../errors.ts'
import type { Paced } from '../kernels/core/pace.ts'
import { dequantized, quantizationOf, requantize } from '../kernels/quantized/codes.ts'
import { type Dim, mayMatch, printDim } from '../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../shapes/fact.ts'
import { allocate, type Tensor } from '../tensor/tensor.ts'
import { defineOp, type Op, type OperandKind, type Operands, type OpVersion, type Parameters } from './define.ts'
import { checkRank, checkSingle } from './ranks.ts'
import type { AnySource } from './source-types.ts'
import { withOutput } from './with-output.ts'

/**
 * Checks a quantization of a whole tensor: one scale and one zero point.
 * @param what names the tensor in messages
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`
 */
export function checkQuantization(what: string, scale: TensorFact | undefined, zero: TensorFact | undefined): void {
  if (scale) checkSingle(`the scale of ${what}`, scale)
  if (zero) checkSingle(`the zero point of ${what}`, zero)
}

/**
 * Checks a parameter of a quantization with one number for all, or a list of one for each of `count` columns or
 * channels.
 * @param counted what there are `count` of, in messages
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`
 */
export function checkEach(name: string, fact: TensorFact | undefined, count: Dim | undefined, counted: string): void {
  checkRank(name, fact, 0, 1)
  const own = fact?.shape
  if (own === undefined || own.length === 0) return
  if (!mayMatch(own[0], 1) && count !== undefined && !mayMatch(own[0], count))
    fail('dims-mismatch', `${name} has ${printDim(own[0])} elements; there are ${printDim(count)} ${counted}`)
}

/** Operands of one input of QLinearConcat: codes, scale, zero point. */
export const OPERANDS_OF_PART = 3

/** The inputs of QLinearConcat, of which each is so many operands. */
export const quantizedParts = <T>(operands: readonly T[]): (readonly [codes: T, scale: T, zero: T])[] =>
  Array.from({ length: operands.length / OPERANDS_OF_PART }, (_, i) => {
    const [codes, scale, zero] = operands.slice(OPERANDS_OF_PART * i, OPERANDS_OF_PART * (i + 1))
    return [codes, scale, zero]
  })

/** Names of the operands that hold the scale and the zero point of an operand, and of the result. */
const scaleOf = (operand: string): string => `${operand}Scale`
const zeroOf = (operand: string): string => `${operand}Zero`
const RESULT = 'result'

interface Rounding {
  readonly divisor?: (scale: number) => number
  readonly evenCodes?: (params: Parameters) => boolean
}

/**
 * The quantized form of an operator: its operands are 8-bit codes, each followed by a scale and a zero point, after
 * which come those of the result. What the codes stand for is computed with by the operator itself, in double
 * precision, and the result is quantized: `saturate(round(y / scale) + zero point)`, ties to even. Zero points that are
 * left out are 0.
 * @param name type in com.microsoft
 * @param bind where the parameters of `base` come from
 * @param rounding `divisor`: what the result is divided by before it is rounded; its scale where left out. `evenCodes`:
 *   whether the zero point is added before that, so that ties go to the even code
 */
export function quantizedForm(
  name: string,
  base: Op,
  bind: Readonly<Record<string, AnySource>>,
  { divisor = scale => scale, evenCodes = () => false }: Rounding = {}
): Op {
  const names = Object.keys(base.operands)
  return defineOp<Operands, Parameters>({
    name,
    operands: layOut(names),
    onnx: [{ domain: 'com.microsoft', since: 1, bind: bind as OpVersion<Operands, Parameters>['bind'] }],

    shape(facts, params, call) {
      const tensors = facts as Readonly<Record<string, TensorFact>>
      for (const operand of [...names, RESULT])
        checkQuantization(operand, tensors[scaleOf(operand)], tensors[zeroOf(operand)])
      const numbers = names.map(operand => [operand, tensorFact('float64', tensors[operand].shape)] as const)
      const [result] = base.shape(Object.fromEntries(numbers), params, call) as readonly TensorFact[]
      return [tensorFact(tensors[names[0]].type, result.shape)]
    },

    *run(values, params, context): Paced {
      const tensors = values as Readonly<Record<string, Tensor>>
      const quantization = (operand: string) => quantizationOf(tensors[scaleOf(operand)], tensors[zeroOf(operand)])
      const numbers: Record<string, Tensor> = {}
      for (const operand of names) numbers[operand] = yield* dequantized(tensors[operand], quantization(operand))
      const out = context.rawOutput()
      const result = allocate('float64', out.dims)
      yield* base.run(numbers, params, withOutput(context, result)) ?? []
      const { scale, zero } = quantization(RESULT)
      yield* requantize(result, { scale: divisor(scale), zero }, out, evenCodes(params))
    }
  })
}

/** Each operand with its scale and its zero point, then those of the result. */
function layOut(names: readonly string[]): Operands {
  const operands: Record<string, OperandKind> = {}
  for (const name of [...names, RESULT]) {
    if (name !== RESULT) operands[name] = 'tensor'
    operands[scaleOf(name)] = 'tensor'
    operands[zeroOf(name)] = 'optional'
  }
  return operands
}
