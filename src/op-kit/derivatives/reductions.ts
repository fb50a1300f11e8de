import type { ValueId } from '../../graph/graph.ts'
import type { Derivative, Differentiated } from './backward.ts'
import { rewrite, rule } from './elementwise.ts'
import { int, type Writer } from './writer.ts'

type Table = Readonly<Record<string, Derivative>>

/** Axes of a reduction: an attribute, or an input since opset 13 (ReduceSum) and 18; undefined: they are left out. */
function axesOf(w: Writer, { node, attribute, x, ints }: Differentiated): ValueId | undefined {
  return attribute('axes') === undefined || node.inputs[1] !== undefined ? x[1] : w.list(...ints('axes')!)
}

/** A value of the dims of the result, with the axes that the reduction has taken away. */
function kept(w: Writer, call: Differentiated, value: ValueId): ValueId {
  const axes = axesOf(w, call)
  // Without axes the result is a single element, or as large as the operand: both broadcast.
  return call.int('keepdims', 1) === 1 || axes === undefined ? value : w.call('Unsqueeze', [value, axes])
}

/** The same reduction by another function, with all axes kept. */
function reduced(w: Writer, call: Differentiated, type: string, value: ValueId): ValueId {
  const axes = axesOf(w, call)
  return w.call(type, axes === undefined ? [value] : [value, axes], {
    keepdims: int(1),
    noop_with_empty_axes: int(call.int('noop_with_empty_axes', 0))
  })
}

/** From the derivative by the result and the result, both with all axes, to the derivative by the operand. */
const reduction = (
  part: (w: Writer, x: ValueId, y: ValueId, d: ValueId, call: Differentiated) => ValueId
): Derivative =>
  rule((w, call) => {
    const [x] = call.x
    return [part(w, x, kept(w, call, call.y[0]), kept(w, call, call.d), call)]
  })

/** Elements that are as large as the largest share the derivative. */
const extreme = reduction((w, x, y, d, call) => {
  const share = w.call('CastLike', [w.equal(x, y), x])
  return w.mul(d, w.div(share, reduced(w, call, 'ReduceSum', share)))
})

const REDUCTIONS: Table = {
  ReduceSum: reduction((w, x, _, d) => w.expandLike(d, x)),
  ReduceMean: reduction((w, x, y, d) => w.expandLike(w.div(d, w.elementsBy(x, y)), x)),
  ReduceMax: extreme,
  ReduceMin: extreme,
  ReduceL1: reduction((w, x, _, d) => w.mul(d, w.call('Sign', [x]))),
  // At 0 the length has no derivative; 0 is taken, as for the magnitude of a number.
  ReduceL2: reduction((w, x, y, d) => w.mul(d, w.div(x, w.where(w.equal(y, 0), 1, y, y)))),
  ReduceSumSquare: reduction((w, x, _, d) => w.product(d, x, 2)),
  ReduceLogSum: reduction((w, x, y, d) => w.expandLike(w.div(d, w.call('Exp', [y])), x)),
  ReduceLogSumExp: reduction((w, x, y, d) => w.mul(d, w.call('Exp', [w.sub(x, y)]))),
  // The product of all other elements, without a division by zero.
  ReduceProd: reduction((w, x, _, d, call) => {
    const isZero = w.equal(x, 0)
    const zeros = reduced(w, call, 'ReduceSum', w.call('CastLike', [isZero, x]))
    const filled = w.where(isZero, 1, x, x)
    const product = w.div(reduced(w, call, 'ReduceProd', filled), filled)
    const isOnlyZero = w.call('And', [isZero, w.equal(zeros, 1)])
    const isWhole = w.equal(zeros, 0)
    return w.mul(d, w.where(w.call('Or', [isOnlyZero, isWhole]), product, 0, x))
  }),
  CumSum: rule((w, { node, x: [, axis], d, int: read }) => [
    w.again(
      node,
      {
        inputs: [d, axis],
        attributes: new Map([
          ['exclusive', int(read('exclusive', 0))],
          ['reverse', int(1 - read('reverse', 0))]
        ])
      },
      1
    )[0]
  ]),
  GlobalAveragePool: rule((w, { x: [x], y: [y], d }) => [w.expandLike(w.div(d, w.elementsBy(x, y)), x)]),
  GlobalMaxPool: rule((w, { x: [x], y: [y], d }) => {
    const share = w.call('CastLike', [w.equal(x, y), x])
    return [w.mul(d, w.div(share, w.sumTo(share, y)))]
  })
}

/** Runs a rule of matrices on x and the others as matrices of [before the axis, from the axis on]. */
function alongAxis(
  w: Writer,
  { x: [x], version, int: read }: Differentiated,
  others: readonly ValueId[],
  part: (axes: ValueId, others: readonly ValueId[]) => ValueId
): ValueId {
  // Since opset 13 the functions are taken along one axis; before, along it and all after it.
  if (version >= 13) return part(w.list(read('axis', -1)), others)
  const flat = others.map(id => w.call('Flatten', [id], { axis: int(read('axis', 1)) }))
  return w.reshapeLike(part(w.list(1), flat), x)
}

const SOFTMAX: Table = {
  Softmax: rule((w, call) => [
    alongAxis(w, call, [call.y[0], call.d], (axes, [y, d]) => w.mul(y, w.sub(d, w.sum(w.mul(d, y), axes))))
  ]),
  LogSoftmax: rule((w, call) => [
    alongAxis(w, call, [call.y[0], call.d], (axes, [y, d]) => w.sub(d, w.mul(w.call('Exp', [y]), w.sum(d, axes))))
  ])
}

/** Deviations from the mean along axes, divided by the square root of their mean square. */
function standardized(w: Writer, x: ValueId, axes: ValueId, epsilon: number): ValueId {
  const deviation = w.sub(x, w.mean(x, axes))
  const variance = w.mean(w.square(deviation), axes)
  return w.div(deviation, w.call('Sqrt', [w.add(variance, epsilon)]))
}

/** `x` as [batch, channels, positions], and a row of channels as [channels, 1]. */
const byChannel = (w: Writer, x: ValueId): ValueId => w.call('Reshape', [x, w.list(0, 0, -1)])
const column = (w: Writer, row: ValueId): ValueId => w.call('Unsqueeze', [row, w.list(1)])

const NORMALIZATIONS: Table = {
  BatchNormalization: rewrite((w, call) => {
    const [x, scale, bias, mean, variance] = call.x
    if (call.version >= 14 ? call.int('training_mode', 0) !== 0 : call.node.outputs.length > 1) return []
    const [s, b, m, v] = [scale, bias, mean, variance].map(row => column(w, row))
    const factor = w.div(s, w.call('Sqrt', [w.add(v, call.float('epsilon', 1e-5))]))
    return [w.reshapeLike(w.add(w.mul(w.sub(byChannel(w, x), m), factor), b), x)]
  }),
  InstanceNormalization: rewrite((w, call) => {
    const [x, scale, bias] = call.x
    const normal = standardized(w, byChannel(w, x), w.list(2), call.float('epsilon', 1e-5))
    return [w.reshapeLike(w.add(w.mul(normal, column(w, scale)), column(w, bias)), x)]
  }),
  LayerNormalization: rewrite((w, call) => {
    const [x, scale, bias] = call.x
    const flat = w.call('Flatten', [x], { axis: int(call.int('axis', -1)) })
    const normal = w.reshapeLike(standardized(w, flat, w.list(1), call.float('epsilon', 1e-5)), x)
    const scaled = w.mul(normal, scale)
    return [call.node.inputs[2] === undefined ? scaled : w.add(scaled, bias)]
  }),
  RMSNormalization: rewrite((w, call) => {
    const [x, scale] = call.x
    const flat = w.call('Flatten', [x], { axis: int(call.int('axis', -1)) })
    const square = w.add(w.mean(w.square(flat), w.list(1)), call.float('epsilon', 1e-5))
    return [w.mul(w.reshapeLike(w.div(flat, w.call('Sqrt', [square])), x), scale)]
  })
}

/** The loss of each item, weighted: what the reductions of both losses are made of. */
function loss(w: Writer, call: Differentiated, log: ValueId): ValueId {
  const [, labels, weights] = call.x
  const isIgnored = call.attribute('ignore_index') && w.equal(labels, call.int('ignore_index'))
  const safe = isIgnored === undefined ? labels : w.where(isIgnored, 0, labels, labels)
  const one = w.list(1)
  const picked = w.call('Squeeze', [
    w.call('GatherElements', [log, w.call('Unsqueeze', [safe, one])], { axis: int(1) }),
    one
  ])
  const even = weights === undefined ? w.filled(1, picked) : w.call('Gather', [weights, safe])
  const factor = isIgnored === undefined ? even : w.where(isIgnored, 0, even, even)
  const losses = w.neg(w.mul(picked, factor))
  switch (call.text('reduction', 'mean')) {
    case 'none':
      return losses
    case 'sum':
      return w.call('ReduceSum', [losses], { keepdims: int(0) })
    default:
      return w.div(...([losses, factor].map(x => w.call('ReduceSum', [x], { keepdims: int(0) })) as [ValueId, ValueId]))
  }
}

const LOSSES: Table = {
  NegativeLogLikelihoodLoss: rewrite((w, call) => [loss(w, call, call.x[0])]),
  SoftmaxCrossEntropyLoss: rewrite((w, call) => {
    const log = w.call('LogSoftmax', [call.x[0]], { axis: int(1) })
    return [loss(w, call, log), log]
  })
}

/** Reductions, softmax, normalizations and losses. */
export const REDUCING: Table = { ...REDUCTIONS, ...SOFTMAX, ...NORMALIZATIONS, ...LOSSES }
