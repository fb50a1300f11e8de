import type { Call } from '../bind/call.ts'
import { silu } from '../op-kit/fused.ts'
import { activationOf } from './fuse-epilogue.ts'
import { fusedCall } from './fuse.ts'
import { isFloat32, type PlanCall, type PlanGraph, scalarOf, shapeOf } from './graph.ts'
import type { Match, Pattern, PatternCall } from './match.ts'
import {
  binaryOf,
  commutative,
  eitherOf,
  floatAttribute,
  powerOf,
  standardCall,
  textAttribute,
  unaryOf
} from './patterns.ts'

/** `x * Sigmoid(x)`, as exporters write SiLU. */
export const siluPattern: Pattern = {
  name: 'SiLU',
  calls: { sigmoid: unaryOf('Sigmoid', 'x'), product: commutative('Mul', ['x', 'sigmoid']) },
  root: 'product',
  guard: ({ values }, graph) => isFloat32(graph, values.get('x')),
  fuse: ({ calls, values }) => ({ call: fusedCall(calls.get('product')!.call, silu, { x: values.get('x') }, {}) })
}

/** `x * Sigmoid(1.702 x)` and the like: QuickGelu. */
export const swishPattern: Pattern = {
  name: 'Swish',
  calls: {
    scaled: commutative('Mul', ['x', 'slope']),
    sigmoid: unaryOf('Sigmoid', 'scaled'),
    product: commutative('Mul', ['x', 'sigmoid'])
  },
  scalars: { slope: 'any' },
  root: 'product',
  guard: keepsDims,
  fuse: (match, graph) =>
    replacedBy(match, graph, 'Swish', 24, { alpha: floatAttribute(scalarOf(graph, match.values.get('slope'))!) })
}

/** `x * Tanh(Softplus(x))`: Mish, as files have it before opset 18. */
export const mishPattern: Pattern = {
  name: 'Mish',
  calls: {
    softplus: unaryOf('Softplus', 'x'),
    tanh: unaryOf('Tanh', 'softplus'),
    product: commutative('Mul', ['x', 'tanh'])
  },
  root: 'product',
  guard: keepsDims,
  fuse: (match, graph) => replacedBy(match, graph, 'Mish', 18, {})
}

/** Calls that bound x + 3 by 0 and 6. */
const BOUNDED: Readonly<Record<string, PatternCall>> = {
  sum: commutative('Add', ['x', 'three']),
  bounded: {
    ops: ['Clip'],
    where: (call, graph) => isActivation(call, graph, 'clip', 0, 6),
    reads: { x: 'sum' }
  }
}

const SIXTHS = { three: 3, six: 6, sixth: 1 / 6 }

/** `Clip(x + 3, 0, 6) / 6`: a hard sigmoid. */
export const hardSigmoidPattern: Pattern = {
  name: 'HardSigmoid',
  calls: {
    ...BOUNDED,
    product: eitherOf(binaryOf('Div', ['bounded', 'six']), commutative('Mul', ['bounded', 'sixth']))
  },
  scalars: SIXTHS,
  root: 'product',
  guard: keepsDims,
  fuse: (match, graph) =>
    replacedBy(match, graph, 'HardSigmoid', 6, { alpha: floatAttribute(1 / 6), beta: floatAttribute(0.5) })
}

/** `x * Clip(x + 3, 0, 6) / 6`, and `x * HardSigmoid(x)`: HardSwish, as files have it before opset 14. */
export const hardSwishPattern: Pattern = {
  name: 'HardSwish',
  calls: {
    ...BOUNDED,
    timesBounded: commutative('Mul', ['x', 'bounded']),
    hardSigmoid: {
      ops: ['HardSigmoid', 'HSigmoid'],
      where: (call, graph) => isActivation(call, graph, 'hardSigmoid', 1 / 6, 0.5),
      reads: { x: 'x' }
    },
    product: eitherOf(
      binaryOf('Div', ['timesBounded', 'six']),
      commutative('Mul', ['timesBounded', 'sixth'], ['x', 'hardSigmoid'])
    )
  },
  scalars: SIXTHS,
  root: 'product',
  guard: keepsDims,
  fuse: (match, graph) => replacedBy(match, graph, 'HardSwish', 14, {})
}

/** Whether a call computes a function of one element with these parameters, as near as float32 holds them. */
function isActivation(call: Call, graph: PlanGraph, name: string, p: number, q: number): boolean {
  const found = activationOf(call, graph)
  return found?.name === name && Math.fround(found.p ?? 0) === Math.fround(p) && found.q === q
}

/** The three orders in which x, 1/2 and a sum with 1 are multiplied. */
const HALVES: Readonly<Record<string, PatternCall>> = {
  halfOfX: commutative('Mul', ['x', 'half']),
  halfOfSum: commutative('Mul', ['sum', 'half']),
  timesSum: commutative('Mul', ['x', 'sum']),
  product: commutative('Mul', ['halfOfX', 'sum'], ['x', 'halfOfSum'], ['timesSum', 'half'])
}

/** Gelu by erf: `x / 2 * (1 + erf(x / sqrt 2))`. */
export const geluPattern: Pattern = {
  name: 'Gelu',
  calls: {
    divided: binaryOf('Div', ['x', 'root']),
    scaled: commutative('Mul', ['x', 'inverseRoot']),
    erf: unaryOf('Erf', 'divided', 'scaled'),
    sum: commutative('Add', ['erf', 'one']),
    ...HALVES
  },
  scalars: { root: Math.SQRT2, inverseRoot: Math.SQRT1_2, one: 1, half: 0.5 },
  root: 'product',
  guard: keepsDims,
  fuse: (match, graph) => replacedBy(match, graph, 'Gelu', 20, { approximate: textAttribute('none') })
}

/** Gelu by tanh: `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))`, and with x before the inner sum. */
export const geluTanhPattern: Pattern = {
  name: 'Gelu by tanh',
  calls: {
    square: commutative('Mul', ['x', 'x']),
    power2: powerOf('x', 'two'),
    power: powerOf('x', 'three'),
    cube: commutative('Mul', ['square', 'x']),
    scaledCube: commutative('Mul', ['power', 'factor'], ['cube', 'factor'], ['scaledSquare', 'x']),
    scaledX: commutative('Mul', ['x', 'factor']),
    scaledSquare: commutative('Mul', ['square', 'factor'], ['power2', 'factor'], ['scaledX', 'x']),
    polynomial: commutative('Add', ['x', 'scaledCube']),
    // x * sqrt(2 / pi) * (1 + 0.044715 x^2)
    evenPart: commutative('Add', ['scaledSquare', 'one']),
    rootOfX: commutative('Mul', ['x', 'root']),
    rootOfSum: commutative('Mul', ['evenPart', 'root']),
    timesEven: commutative('Mul', ['x', 'evenPart']),
    inner: commutative(
      'Mul',
      ['polynomial', 'root'],
      ['rootOfX', 'evenPart'],
      ['x', 'rootOfSum'],
      ['timesEven', 'root']
    ),
    tanh: unaryOf('Tanh', 'inner'),
    sum: commutative('Add', ['tanh', 'one']),
    ...HALVES
  },
  scalars: { two: 2, three: 3, factor: 0.044715, root: Math.sqrt(2 / Math.PI), one: 1, half: 0.5 },
  root: 'product',
  guard: keepsDims,
  fuse: (match, graph) => replacedBy(match, graph, 'Gelu', 20, { approximate: textAttribute('tanh') })
}

/** Whether x is float32, and no constant of one element and more axes gives the result more axes. */
function keepsDims({ calls, values }: Match, graph: PlanGraph): boolean {
  const x = shapeOf(graph, values.get('x'))
  const made = shapeOf(graph, calls.get('product')!.call.outputs[0])
  return x !== undefined && x.length === made?.length && isFloat32(graph, values.get('x'))
}

function replacedBy(
  { calls, values }: Match,
  graph: PlanGraph,
  type: string,
  opset: number,
  attributes: Parameters<typeof standardCall>[2]['attributes']
): Pick<PlanCall, 'call'> | undefined {
  const root: Call = calls.get('product')!.call
  const call = standardCall(graph, root, { type, opset, inputs: [values.get('x')], ...(attributes && { attributes }) })
  return call && { call }
}
