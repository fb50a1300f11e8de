import type { ValueId } from '../../graph/graph.ts'
import { type Derivative, type Differentiated, type Rewrite, type Rule, without } from './backward.ts'
import type { Term, Writer } from './writer.ts'

type Table = Readonly<Record<string, Derivative>>

export const rule = (rule: Rule): Derivative => ({ kind: 'rule', rule })
export const rewrite = (rewrite: Rewrite): Derivative => ({ kind: 'rewrite', rewrite })

/** A function of one operand: from `w`, x and y to the factor of the derivative by y. */
const slope = (factor: (w: Writer, x: ValueId, y: ValueId, call: Differentiated) => Term): Derivative =>
  rule((w, call) => [w.mul(call.d, factor(w, call.x[0], call.y[0], call))])

/** The derivative passes where a condition holds. */
const gate = (condition: (w: Writer, x: ValueId, y: ValueId, call: Differentiated) => ValueId): Derivative =>
  rule((w, call) => [w.where(condition(w, call.x[0], call.y[0], call), call.d, 0, call.d)])

/** Both operands broadcast: the parts before they are summed. */
const pair = (
  parts: (w: Writer, d: ValueId, a: ValueId, b: ValueId, y: ValueId) => readonly [() => ValueId, () => ValueId]
): Derivative =>
  rule((w, call) => {
    requireAligned(call)
    const [a, b] = call.x
    return parts(w, call.d, a, b, call.y[0]).map((part, i) => (call.wants(i) ? w.sumTo(part(), call.x[i]) : undefined))
  })

/** Before opset 7 an operand could lie along other axes than the last. */
function requireAligned({ node, version, attribute }: Differentiated): void {
  if (version < 7 && attribute('axis') !== undefined) without(node, ' with an axis')
}

/** Operands of any number, broadcast: the factor of the derivative by y for each. */
const each = (factor: (w: Writer, call: Differentiated) => (i: number) => Term): Derivative =>
  rule((w, call) => {
    const of = factor(w, call)
    return call.x.map((x, i) => (call.wants(i) ? w.sumTo(w.mul(of(i), call.d), x) : undefined))
  })

/** Where several operands are the largest, they share the derivative. */
const extreme = each((w, { x, y }) => {
  const shares = x.map(id => w.call('CastLike', [w.equal(id, y[0]), y[0]]))
  const count = shares.length === 1 ? shares[0] : w.call('Sum', shares)
  return i => w.div(shares[i], count)
})

const TWO_BY_ROOT_PI = 2 / Math.sqrt(Math.PI)
const SELU = { alpha: 1.67326319217681884765625, gamma: 1.05070102214813232421875 }

const exp = (w: Writer, x: Term & string): ValueId => w.call('Exp', [x])
const sqrt = (w: Writer, x: ValueId): ValueId => w.call('Sqrt', [x])
const sigmoid = (w: Writer, x: ValueId): ValueId => w.call('Sigmoid', [x])
const reciprocal = (w: Writer, x: ValueId): ValueId => w.call('Reciprocal', [x])

const FUNCTIONS: Table = {
  Abs: slope((w, x) => w.call('Sign', [x])),
  Acos: slope((w, x) => w.neg(reciprocal(w, sqrt(w, w.sub(1, w.square(x)))))),
  Acosh: slope((w, x) => reciprocal(w, sqrt(w, w.sub(w.square(x), 1)))),
  Asin: slope((w, x) => reciprocal(w, sqrt(w, w.sub(1, w.square(x))))),
  Asinh: slope((w, x) => reciprocal(w, sqrt(w, w.add(w.square(x), 1)))),
  Atan: slope((w, x) => reciprocal(w, w.add(w.square(x), 1))),
  Atanh: slope((w, x) => reciprocal(w, w.sub(1, w.square(x)))),
  Cos: slope((w, x) => w.neg(w.call('Sin', [x]))),
  Cosh: slope((w, x) => w.call('Sinh', [x])),
  Erf: slope((w, x) => w.mul(exp(w, w.neg(w.square(x))), TWO_BY_ROOT_PI)),
  Exp: slope((_, __, y) => y),
  Log: slope((w, x) => reciprocal(w, x)),
  Neg: slope(() => -1),
  Reciprocal: slope((w, _, y) => w.neg(w.square(y))),
  Sin: slope((w, x) => w.call('Cos', [x])),
  Sinh: slope((w, x) => w.call('Cosh', [x])),
  Sqrt: slope((w, _, y) => w.div(0.5, y)),
  Tan: slope((w, _, y) => w.add(w.square(y), 1)),
  Tanh: slope((w, _, y) => w.sub(1, w.square(y)))
}

const ACTIVATIONS: Table = {
  Celu: slope((w, x, _, call) => {
    const low = w.call('Min', [x, w.like(0, x)])
    return exp(w, w.div(low, call.float('alpha', 1)))
  }),
  Elu: slope((w, x, y, call) => w.where(w.less(x, 0), w.add(y, call.float('alpha', 1)), 1, y)),
  Gelu: rewrite((w, { x: [x], text }) => {
    const inner =
      text('approximate', 'none') === 'tanh'
        ? w.call('Tanh', [w.mul(w.add(x, w.mul(w.product(x, x, x), 0.044715)), Math.sqrt(2 / Math.PI))])
        : w.call('Erf', [w.mul(x, Math.SQRT1_2)])
    return [w.product(x, w.add(inner, 1), 0.5)]
  }),
  HardSigmoid: slope((w, _, y, call) => {
    const isInside = w.call('And', [w.greater(y, 0), w.less(y, 1)])
    return w.where(isInside, call.float('alpha', 0.2), 0, y)
  }),
  HardSwish: rewrite((w, { x: [x] }) => {
    const clipped = w.call('Clip', [w.add(w.mul(x, 1 / 6), 0.5), w.like(0, x), w.like(1, x)])
    return [w.mul(x, clipped)]
  }),
  LeakyRelu: slope((w, x, y, call) => w.where(w.less(x, 0), call.float('alpha', 0.01), 1, y)),
  Mish: rewrite((w, { x: [x] }) => [w.mul(x, w.call('Tanh', [w.call('Softplus', [x])]))]),
  Relu: gate((w, x) => w.greater(x, 0)),
  Selu: slope((w, x, y, call) => {
    const [alpha, gamma] = [call.float('alpha', SELU.alpha), call.float('gamma', SELU.gamma)]
    return w.where(w.greater(x, 0), gamma, w.add(y, alpha * gamma), y)
  }),
  Sigmoid: slope((w, _, y) => w.mul(y, w.sub(1, y))),
  Softplus: slope((w, x) => sigmoid(w, x)),
  Softsign: slope((w, x) => reciprocal(w, w.square(w.add(w.call('Abs', [x]), 1)))),
  Swish: rewrite((w, { x: [x], float }) => [w.mul(x, sigmoid(w, w.mul(x, float('alpha', 1))))]),
  ThresholdedRelu: gate((w, x, _, call) => w.greater(x, call.float('alpha', 1)))
}

/** A list with so many axes of size 1 behind it that it lies along axis 1 of `x`; what has more axes stays. */
function byChannel(w: Writer, list: ValueId, x: ValueId): ValueId {
  const behind = w.call('Sub', [w.call('Sub', [w.rank(x), w.list(1)]), w.rank(list)])
  return w.reshape(list, w.join(w.shape(list), w.ones(w.call('Max', [behind, w.list(0)]))))
}

const BROADCAST: Table = {
  Add: pair((_, d) => [() => d, () => d]),
  Sub: pair((w, d) => [() => d, () => w.neg(d)]),
  Mul: pair((w, d, a, b) => [() => w.mul(d, b), () => w.mul(d, a)]),
  Div: pair((w, d, _, b, y) => [() => w.div(d, b), () => w.neg(w.div(w.mul(d, y), b))]),
  Pow: pair((w, d, a, exponent, y) => {
    const b = w.call('CastLike', [exponent, a])
    return [
      // x^0 does not change, though 0 * 0^-1 is no number.
      () => w.mul(d, w.where(w.equal(b, 0), 0, w.mul(b, w.pow(a, w.sub(b, 1))), a)),
      () => w.product(d, y, w.call('Log', [w.where(w.greater(a, 0), a, 1, a)]))
    ]
  }),
  PRelu: rule((w, { x: [x, given], version, d, wants }) => {
    // Before opset 7 a list of slopes has one for each channel.
    const slopes = version < 7 ? byChannel(w, given, x) : given
    const isLow = w.less(x, 0)
    return [
      wants(0) ? w.where(isLow, w.mul(d, slopes), d, d) : undefined,
      wants(1) ? w.reshapeLike(w.sumTo(w.where(isLow, w.mul(d, x), 0, d), slopes), given) : undefined
    ]
  }),
  Max: extreme,
  Min: extreme,
  Sum: each(() => () => 1),
  Mean: each(
    (_, { x }) =>
      () =>
        1 / x.length
  ),
  Where: rule((w, { x: [condition, a, b], d, wants }) => [
    undefined,
    wants(1) ? w.sumTo(w.where(condition, d, 0, d), a) : undefined,
    wants(2) ? w.sumTo(w.where(condition, 0, d, d), b) : undefined
  ]),
  // The bounds are inputs since opset 11. Elements that Clip has left as they are pass the derivative on.
  Clip: rule((w, { node, x: [x, low, high], y: [y], d, wants }) => {
    const raised = node.inputs[1] === undefined ? x : w.call('Max', [x, low])
    // A lower bound above the upper one raises elements to it, but the upper one cuts them all.
    const kept = node.inputs[2] === undefined || !wants(1) ? d : w.where(w.greater(raised, high), 0, d, d)
    return [
      w.where(w.equal(x, y), d, 0, d),
      wants(1) ? w.sumTo(w.where(w.less(x, low), kept, 0, d), low) : undefined,
      wants(2) ? w.sumTo(w.where(w.greater(raised, high), d, 0, d), high) : undefined
    ]
  })
}

/** Elementwise functions, activations and arithmetic. */
export const ELEMENTWISE: Table = { ...FUNCTIONS, ...ACTIVATIONS, ...BROADCAST }
