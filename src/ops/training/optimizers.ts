import { fail } from '../../errors.ts'
import { convertPaced } from '../../kernels/core/convert-paced.ts'
import { COST, inChunks } from '../../kernels/core/pace.ts'
import { type DataDependent, defineOp, type Op, params } from '../../op-kit/define.ts'
import { choice, derive, float, inputFloat, inputInt, type NodeFacts } from '../../op-kit/sources.ts'
import { type Dim, meetDims, printShape } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { toDoubles } from '../../tensor/elements.ts'
import { Tensor } from '../../tensor/tensor.ts'

/** One update of one element: from the element, its gradient and its optimizer state to the new element and state. */
type Update = (
  rate: number,
  time: number
) => (x: number, gradient: number, memory: readonly number[]) => readonly number[]

interface Params {
  rate: DataDependent<number>
  /** Number of updates done before this one. */
  time: DataDependent<number>
  update: Update
}

/** Optimizers of ai.onnx.preview.training 1, in double precision. One call may update several tensors. */
export const optimizerOps: readonly Op[] = [
  optimizer('Adagrad', 1, node => {
    const [norm, decay, epsilon] = valuesOf(node, ['norm_coefficient', 'decay_factor', 'epsilon'])
    return (rate, time) =>
      (x, gradient, [squares]) => {
        const slope = norm * x + gradient
        const sum = squares + slope * slope
        return [x - ((rate / (1 + time * decay)) * slope) / (Math.sqrt(sum) + epsilon), sum]
      }
  }),
  optimizer('Adam', 2, node => {
    const [norm, post, alpha, beta, epsilon] = valuesOf(node, [
      'norm_coefficient',
      'norm_coefficient_post',
      'alpha',
      'beta',
      'epsilon'
    ])
    return (rate, time) => {
      const adjusted = time > 0 ? (rate * Math.sqrt(1 - beta ** time)) / (1 - alpha ** time) : rate
      return (x, gradient, [momentum, squares]) => {
        const slope = norm * x + gradient
        const mean = alpha * momentum + (1 - alpha) * slope
        const spread = beta * squares + (1 - beta) * slope * slope
        return [(1 - post) * (x - (adjusted * mean) / (Math.sqrt(spread) + epsilon)), mean, spread]
      }
    }
  }),
  optimizer('Momentum', 1, node => {
    const [norm, alpha, beta] = valuesOf(node, ['norm_coefficient', 'alpha', 'beta'])
    const nesterov = node.get(choice('mode', { nesterov: true, standard: false })) ?? false
    return (rate, time) =>
      (x, gradient, [momentum]) => {
        const slope = norm * x + gradient
        const speed = alpha * momentum + (time > 0 ? beta : 1) * slope
        return [x - rate * (nesterov ? slope + alpha * speed : speed), speed]
      }
  })
]

const valuesOf = (node: NodeFacts, names: readonly string[]): readonly number[] =>
  names.map(name => node.get(float(name)) ?? fail('missing-attribute', `attribute "${name}" is missing`))

/**
 * @param memories number of state tensors of each optimized tensor. Inputs are all tensors, then all gradients, then
 *   all tensors of each kind of state.
 */
function optimizer(name: string, memories: number, updateOf: (node: NodeFacts) => Update): Op {
  const kinds = memories + 2
  return defineOp({
    name,
    operands: { inputs: 'variadic' },
    params: params<Params>(),
    onnx: [
      {
        domain: 'ai.onnx.preview.training',
        since: 1,
        in: { inputs: 2 },
        bind: { rate: inputFloat(0), time: inputInt(1), update: derive(updateOf) }
      }
    ],

    shape({ inputs }, _, { outputCount }) {
      if (inputs.length % kinds !== 0)
        fail('wrong-input-count', `${inputs.length} tensors are given; expected a multiple of ${kinds}`)
      const count = inputs.length / kinds
      if (outputCount !== count * (kinds - 1))
        fail('wrong-output-count', `${outputCount} outputs are listed; expected ${count * (kinds - 1)}`)
      const optimized = inputs.slice(0, count).map((_, i) => sharedFact(inputs.filter((_, k) => k % count === i)))
      return Array.from({ length: outputCount }, (_, i) => optimized[i % count])
    },

    *run({ inputs }, { rate, time, update }, call) {
      const count = inputs.length / kinds
      const next = update(rate, time)
      for (let i = 0; i < count; i++) {
        const [values, gradients, ...memory] = inputs.filter((_, k) => k % count === i).map(toDoubles)
        const results = Array.from({ length: kinds - 1 }, () => new Float64Array(values.length))
        yield* inChunks(
          values.length,
          (from, to) => {
            for (let at = from; at < to; at++) {
              const now = next(
                values[at],
                gradients[at],
                memory.map(kind => kind[at])
              )
              results.forEach((list, k) => {
                list[at] = now[k]
              })
            }
          },
          64 * COST.element
        )
        for (const [k, list] of results.entries()) {
          const out = call.output(k * count + i)
          yield* convertPaced(new Tensor('float64', list, out.dims), out)
        }
      }
    }
  })
}

/** The common type and shape of a tensor, its gradient and its state. */
function sharedFact(facts: readonly TensorFact[]): TensorFact {
  let { type, shape }: { type?: TensorFact['type']; shape?: readonly Dim[] } = facts[0]
  for (const fact of facts) {
    if (type && fact.type && type !== fact.type) {
      fail(
        'type-mismatch',
        `a tensor of type ${type} has a gradient or memory of type ${fact.type}; they must be the same`
      )
    }
    type ??= fact.type
    if (shape === undefined || fact.shape === undefined) shape ??= fact.shape
    else {
      const met: (Dim | undefined)[] =
        shape.length === fact.shape.length ? shape.map((dim, i) => meetDims(dim, fact.shape?.[i] ?? dim)) : [undefined]
      if (met.includes(undefined)) {
        fail(
          'shape-mismatch',
          `a tensor of shape ${printShape(shape)} ` +
            `has a gradient or memory of shape ${printShape(fact.shape)}; they must be the same`
        )
      }
      shape = met as Dim[]
    }
  }
  return tensorFact(type, shape)
}
