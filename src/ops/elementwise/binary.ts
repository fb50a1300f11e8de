import { fail } from '../../errors.ts'
import { type AnyBinaryLoops, binary } from '../../kernels/core/elementwise.ts'
import * as kernels from '../../kernels/elementwise/binary.ts'
import {
  alignedShape,
  autoBroadcast,
  type Broadcast,
  broadcastResult,
  legacyBroadcast
} from '../../op-kit/broadcast.ts'
import { defineOp, type Op, type OpVersion, params } from '../../op-kit/define.ts'
import { choice, flag, is, mapped, type Source } from '../../op-kit/sources.ts'
import { commonType, INTEGERS, NUMERIC } from '../../op-kit/types.ts'
import { minDim } from '../../shapes/dim.ts'
import {
  andElems,
  arithmetic,
  type ElemFunction,
  equalElems,
  greaterElems,
  greaterOrEqualElems,
  lessElems,
  lessOrEqualElems,
  maxElems,
  minElems,
  notElem,
  orElems,
  xorElems
} from '../../shapes/elem.ts'
import { type Elem, knownValue, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { add, floorDiv, floorMod, type Int, maxOf, minOf, mul, sameInt, sub, truncDiv } from '../../shapes/sym.ts'
import { ALL_DTYPES, type DType, DTYPES, isFloat, isInteger } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { positionOf, type Tensor, withDims } from '../../tensor/tensor.ts'

/** One elementwise function of two operands of one type. */
interface BinaryFunction {
  /** Loops for operands of a type. */
  loops(type: DType): AnyBinaryLoops
  /** Type of the result: the operands', or boolean. */
  readonly result: 'same' | 'bool'
  readonly elem: ElemFunction
  /** Integer divisors must not be 0. */
  readonly divides?: true
  /** `fmod` 0 takes floats only from Mod-28 on. */
  readonly integersOnly?: true
  /** Where bits are shifted to. */
  readonly shift?: 'left' | 'right'
}

interface Params {
  broadcast: Broadcast
  function: BinaryFunction
}

const same = (loops: AnyBinaryLoops, elem: ElemFunction): BinaryFunction => ({
  loops: () => loops,
  result: 'same',
  elem
})
const dividing = (loops: AnyBinaryLoops, elem: ElemFunction): BinaryFunction => ({
  ...same(loops, elem),
  divides: true
})
const comparing = (loops: AnyBinaryLoops, elem: ElemFunction): BinaryFunction => ({
  loops: () => loops,
  result: 'bool',
  elem
})
const unknown: ElemFunction = () => undefined

/** The quotient of two elements. For floats it is known only where the division leaves no remainder. */
const quotient = (divide: (a: Int, b: Int) => Int): ElemFunction =>
  arithmetic(
    (a, b, isFloat) => {
      // 0 by a float that may be 0 may be NaN; among integers it is no number at all.
      if (b === 0n || (isFloat && minOf(b) <= 0 && maxOf(b) >= 0)) return undefined
      const result = divide(a, b)
      const certain = !isFloat && (typeof a === 'bigint' || typeof b === 'bigint')
      return certain || sameInt(mul(result, b), a) ? result : undefined
    },
    (a, b) => a / b
  )

const truncatedMod = arithmetic(
  (a, b) => (minOf(a) >= 0 && minOf(b) > 0 ? floorMod(a, b) : undefined),
  (a, b) => a % b
)
const flooredMod = arithmetic((a, b) => (b === 0n ? undefined : floorMod(a, b)), kernels.floorMod)

const ADD = same(
  kernels.ADD,
  arithmetic(add, (a, b) => a + b)
)
const SUBTRACT = same(
  kernels.SUBTRACT,
  arithmetic(sub, (a, b) => a - b)
)
const MULTIPLY = same(
  kernels.MULTIPLY,
  arithmetic(mul, (a, b) => a * b)
)
const DIVIDE = dividing(kernels.DIVIDE, quotient(truncDiv))
const FLOOR_DIVIDE = dividing(kernels.FLOOR_DIVIDE, quotient(floorDiv))
const TRUNCATED_MOD = dividing(kernels.TRUNCATED_MOD, truncatedMod)
const FLOOR_MOD = dividing(kernels.FLOOR_MOD, flooredMod)
const SQUARED_DIFFERENCE = same(
  kernels.SQUARED_DIFFERENCE,
  arithmetic(
    (a, b) => mul(sub(a, b), sub(a, b)),
    (a, b) => (a - b) * (a - b)
  )
)
const MAXIMUM = same(kernels.MAXIMUM, maxElems)
const MINIMUM = same(kernels.MINIMUM, minElems)
const EQUAL = comparing(kernels.EQUAL, equalElems)
const NOT_EQUAL = comparing(kernels.NOT_EQUAL, elements => notElem([equalElems(elements) as Elem]))
const GREATER = comparing(kernels.GREATER, greaterElems)
const GREATER_EQUAL = comparing(kernels.GREATER_EQUAL, greaterOrEqualElems)
const LESS = comparing(kernels.LESS, lessElems)
const LESS_EQUAL = comparing(kernels.LESS_EQUAL, lessOrEqualElems)
const AND = comparing(kernels.AND, andElems)
const OR = comparing(kernels.OR, orElems)
const XOR = comparing(kernels.XOR, xorElems)
const BIT_AND = same(kernels.BIT_AND, unknown)
const BIT_OR = same(kernels.BIT_OR, unknown)
const BIT_XOR = same(kernels.BIT_XOR, unknown)
const SHIFT_LEFT: BinaryFunction = {
  loops: type => kernels.shiftLeft(DTYPES[type].bits),
  result: 'same',
  elem: unknown,
  shift: 'left'
}
const SHIFT_RIGHT: BinaryFunction = {
  loops: type => kernels.shiftRight(DTYPES[type].bits),
  result: 'same',
  elem: unknown,
  shift: 'right'
}

type BinaryVersion = OpVersion<{ a: 'tensor'; b: 'tensor' }, Params>
type FunctionSource = Source<BinaryFunction>

const bindAs = (broadcast: Source<Broadcast>, fn: FunctionSource): BinaryVersion['bind'] => ({
  broadcast,
  function: fn
})
/** Versions of an ONNX operator; before version 7 the second operand is aligned with the first from an axis on. */
const onnx = (type: string, fn: FunctionSource, since = 1): BinaryVersion[] => [
  ...(since < 7 ? [{ type, since, bind: bindAs(legacyBroadcast, fn) }] : []),
  { type, since: Math.max(7, since), bind: bindAs(is({ mode: 'numpy' } as const), fn) }
]
const openvino = (type: string, fn: FunctionSource, types: readonly DType[], since = 1): BinaryVersion[] => [
  { type, since, types: { a: types, b: types }, bind: bindAs(autoBroadcast, fn) }
]

const BOOLEAN: readonly DType[] = ['bool']
const BITS: readonly DType[] = [...INTEGERS, 'bool']
const ORDERED: readonly DType[] = [...NUMERIC, 'bool']
const PYTHON_DIVIDE = mapped(flag('m_pythondiv'), floors => (floors ? FLOOR_DIVIDE : DIVIDE))

/**
 * Elementwise functions of two operands of one type, broadcast by NumPy's rules (IR: by `auto_broadcast`). Integers
 * wrap. Division of an integer by 0, undefined in both specifications, is refused. Division of integers truncates in
 * ONNX and floors in IR, unless `m_pythondiv` is false. Comparisons with NaN are false; Maximum and Minimum with NaN
 * are NaN.
 */
export const binaryOps: readonly Op[] = [
  define('Add', onnx('Add', is(ADD)), openvino('Add', is(ADD), NUMERIC)),
  define('Sub', onnx('Sub', is(SUBTRACT)), openvino('Subtract', is(SUBTRACT), NUMERIC)),
  define('Mul', onnx('Mul', is(MULTIPLY)), openvino('Multiply', is(MULTIPLY), NUMERIC)),
  define('Div', onnx('Div', is(DIVIDE)), openvino('Divide', PYTHON_DIVIDE, NUMERIC)),
  define(
    'Mod',
    [
      ...onnx(
        'Mod',
        mapped(flag('fmod'), truncates => (truncates ? TRUNCATED_MOD : { ...FLOOR_MOD, integersOnly: true as const })),
        10
      ),
      ...onnx(
        'Mod',
        mapped(flag('fmod'), truncates => (truncates ? TRUNCATED_MOD : FLOOR_MOD)),
        28
      )
    ],
    openvino('Mod', is(TRUNCATED_MOD), NUMERIC)
  ),
  define('FloorMod', [], openvino('FloorMod', is(FLOOR_MOD), NUMERIC)),
  define('Maximum', [], openvino('Maximum', is(MAXIMUM), NUMERIC)),
  define('Minimum', [], openvino('Minimum', is(MINIMUM), NUMERIC)),
  define('SquaredDifference', [], openvino('SquaredDifference', is(SQUARED_DIFFERENCE), NUMERIC)),
  define('Equal', onnx('Equal', is(EQUAL)), openvino('Equal', is(EQUAL), ALL_DTYPES)),
  define('NotEqual', [], openvino('NotEqual', is(NOT_EQUAL), ALL_DTYPES)),
  define('Greater', onnx('Greater', is(GREATER)), openvino('Greater', is(GREATER), ORDERED)),
  define(
    'GreaterOrEqual',
    onnx('GreaterOrEqual', is(GREATER_EQUAL), 12),
    openvino('GreaterEqual', is(GREATER_EQUAL), ORDERED)
  ),
  define('Less', onnx('Less', is(LESS)), openvino('Less', is(LESS), ORDERED)),
  define('LessOrEqual', onnx('LessOrEqual', is(LESS_EQUAL), 12), openvino('LessEqual', is(LESS_EQUAL), ORDERED)),
  define('And', onnx('And', is(AND)), openvino('LogicalAnd', is(AND), BOOLEAN)),
  define('Or', onnx('Or', is(OR)), openvino('LogicalOr', is(OR), BOOLEAN)),
  define('Xor', onnx('Xor', is(XOR)), [
    ...openvino('LogicalXor', is(XOR), BOOLEAN),
    ...openvino('Xor', is(XOR), BOOLEAN)
  ]),
  define('BitwiseAnd', onnx('BitwiseAnd', is(BIT_AND), 18), openvino('BitwiseAnd', is(BIT_AND), BITS, 13)),
  define('BitwiseOr', onnx('BitwiseOr', is(BIT_OR), 18), openvino('BitwiseOr', is(BIT_OR), BITS, 13)),
  define('BitwiseXor', onnx('BitwiseXor', is(BIT_XOR), 18), openvino('BitwiseXor', is(BIT_XOR), BITS, 13)),
  define('BitShift', onnx('BitShift', choice('direction', { LEFT: SHIFT_LEFT, RIGHT: SHIFT_RIGHT }), 11), [
    ...openvino('BitwiseLeftShift', is(SHIFT_LEFT), INTEGERS, 15),
    ...openvino('BitwiseRightShift', is(SHIFT_RIGHT), INTEGERS, 15)
  ])
]

function define(name: string, onnxVersions: readonly BinaryVersion[], openvinoVersions: readonly BinaryVersion[]): Op {
  return defineOp<{ a: 'tensor'; b: 'tensor' }, Params>({
    name,
    operands: { a: 'tensor', b: 'tensor' },
    inPlace: ['a', 'b'],
    params: params<Params>(),
    onnx: onnxVersions,
    openvino: openvinoVersions,

    shape({ a, b }, { broadcast, function: fn }) {
      const type = commonType({ a, b })
      if (fn.integersOnly && type !== undefined && isFloat(type)) {
        fail(
          'unknown-attribute-value',
          `fmod is 0 and the operands are of type ${type}; floats need fmod 1 before opset 28`
        )
      }
      return [tensorFact(fn.result === 'bool' ? 'bool' : type, broadcastResult(a.shape, b.shape, broadcast))]
    },

    validate({ a, b }, { function: fn }) {
      if (!fn.divides || b.type === undefined || !isInteger(b.type)) return
      const divisors = knownValue(b)
      if (divisors && mayHaveElements(a)) demandDivisors(divisors)
    },

    elem: (elements, { broadcast, function: fn }) => (broadcast.mode === 'aligned' ? undefined : fn.elem(elements)),

    run({ a, b }, { broadcast, function: fn }, call) {
      const out = call.rawOutput()
      if (fn.divides && out.data.length > 0) demandDivisors(b)
      const second = broadcast.mode === 'aligned' ? withDims(b, alignedShape(a.dims.length, b.dims, broadcast.axis)) : b
      return binary(fn.loops(a.type), a, second, out)
    }
  })
}

const mayHaveElements = ({ shape }: TensorFact): boolean => shape !== undefined && shape.every(dim => minDim(dim) > 0)

/** @throws NodewiseError `value-out-of-range`, naming the first integer divisor that is 0 */
function demandDivisors(divisors: Tensor): void {
  if (!isInteger(divisors.type)) return
  const data = divisors.data as Numbers
  const at = data.findIndex((divisor: number | bigint) => divisor === 0 || divisor === 0n)
  if (at >= 0)
    fail(
      'value-out-of-range',
      `integer division by zero: the divisor at [${positionOf(at, divisors.dims).join(', ')}] is 0`
    )
}
