import { fail } from '../../errors.ts'
import { declaredOf, type Graph, type GraphPort } from '../../graph/graph.ts'
import type { LoopInput, LoopOutput, LoopPorts, Slice } from '../../kernels/control/loop-ports.ts'
import {
  asScalar,
  dimAt,
  elementwise,
  gathered,
  sliced,
  squeezed,
  transposed,
  unsqueezed,
  upTo
} from '../../op-kit/conversion-kit.ts'
import { loopOfOpenvino } from '../../op-kit/conversion-loops.ts'
import { add, div, mul, sub } from '../../op-kit/conversion-parts.ts'
import { inputOf, numberParameter } from '../../op-kit/conversion-sizes.ts'
import { dimsOf, type Made, rankOf, type SourceCall, typeOf, type Writer } from '../../op-kit/conversion.ts'
import { type Dim, isConcrete, normalizeAxis, unknownDim } from '../../shapes/dim.ts'
import { type Fact, tensorFact } from '../../shapes/fact.ts'
import { elementCount } from '../../tensor/tensor.ts'

type Of<T, K> = T extends { readonly kind: K } ? T : never
type Carried = Of<LoopInput, 'carried'>
type Joined = Of<LoopOutput, 'concatenated'>

const isCarried = (input: LoopInput): input is Carried => input.kind === 'carried'

/**
 * Loop and TensorIterator of IR as Loop of ONNX, whose body reads what does not change from around it, takes its parts
 * by the number of the iteration, and stacks results, which are put side by side after it.
 */
export function loopToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const ports = call.param<LoopPorts>('ports')
  const operands = call.all('operands')
  const isLoop = call.op.name === 'Loop'
  if (isLoop && call.knows('condition') && call.param('condition') === false) return neverRun(call, w)
  const carried = ports.inputs.filter(isCarried)
  const stacked = ports.outputs.flatMap((output): (Joined | Of<LoopOutput, 'last'>)[] =>
    output.kind === 'concatenated' || output.initial === undefined ? [output] : []
  )
  const shapes = new Map<LoopOutput, readonly Dim[]>()
  const inBody = call.body('body')
  const body = w.body('body', {
    inputs: inner => {
      const iteration = inner.input(tensorFact('int64', []))
      inner.input(tensorFact('bool', []))
      return ports.inputs.map((input, i) => {
        if (input.kind === 'carried') {
          return inner.input(carriedFact(operands[input.operand], inBody, inBody.inputs[i]))
        }
        if (input.kind === 'invariant') return operands[input.operand]
        if (input.kind === 'sliced') return partAt(inner, operands[input.operand], input.slice, iteration)
        if (input.kind !== 'iteration') return undefined
        const number = inner.cast(iteration, input.type)
        return input.dims.length === 0 ? number : inner.reshape(number, input.dims)
      })
    },
    outputs: (results, inner) => [
      ports.condition === undefined ? inner.scalar('bool', true) : asScalar(inner, results[ports.condition]),
      ...carried.map(({ from }) => results[from]),
      ...stacked.map(output => {
        const result = results[output.from]
        shapes.set(output, dimsOf(result))
        return result
      })
    ]
  })
  const values = w.nodes(
    'Loop',
    [
      isLoop ? tripOfLoop(call, w) : tripOfIterator(call, w, ports, operands),
      isLoop ? conditionOf(call, w) : w.scalar('bool', true),
      ...carried.map(({ operand }) => operands[operand])
    ],
    { body },
    { outputs: carried.length + stacked.length }
  )
  return ports.outputs.map(output => {
    if (output.kind === 'last' && output.initial !== undefined)
      return values[carried.findIndex(({ from, operand }) => from === output.from && operand === output.initial)]
    const all = values[carried.length + stacked.indexOf(output)]
    if (output.kind === 'last') return w.node('Gather', [all, w.scalar('int64', -1)], { axis: 0 })
    return sideBySide(w, all, output, shapes.get(output) ?? [])
  })
}

/** Stacked results put side by side along an axis of each. */
function sideBySide(w: Writer, all: Made, { axis, reversed }: Joined, dims: readonly Dim[]): Made {
  const first = w.constant('int64', [Number.MIN_SAFE_INTEGER])
  const back = w.constant('int64', [-1])
  const ordered = reversed ? sliced(w, all, back, first, [0], back) : all
  if (dims.length === 0) return ordered
  const at = normalizeAxis(axis, dims.length)
  const inOrder = transposed(w, ordered, [...upTo(at, 1), 0, ...upTo(dims.length - at, at + 1)])
  if (dims[at] === 1) return squeezed(w, inOrder, [at + 1])
  const rest = dims.slice(at + 1)
  if (!isConcrete(rest))
    fail('unsupported-op', 'dims of results put side by side that are not known before the model runs')
  return w.reshape(inOrder, [...upTo(at).map(() => 0), -1, ...(rest as readonly number[])])
}

/** Dims that a carried value has in every iteration, as far as the file says it. */
export function carriedFact(initial: Made, body: Graph, port: GraphPort): Fact {
  const declared = declaredOf(body, port)
  if (declared?.kind !== 'tensor' || !declared.dims) return tensorFact(typeOf(initial), undefined)
  const dims = initial.fact.kind === 'tensor' ? initial.fact.shape : undefined
  return tensorFact(
    typeOf(initial),
    declared.dims.map((dim, i): Dim => (typeof dim === 'number' && dims?.[i] === dim ? dim : unknownDim()))
  )
}

/** Parts are adjacent from the beginning of the axis or backward from its end. */
function partAt(w: Writer, x: Made, { axis, part, backward }: Slice, iteration: Made): Made {
  const at = normalizeAxis(axis, rankOf(x))
  const step = w.constant('int64', [part])
  const number = w.reshape(iteration, [1])
  const before = mul(w, number, step)
  const start = backward ? sub(w, sub(w, dimAt(w, x, at), step), before) : before
  return gathered(w, x, add(w, start, w.constant('int64', upTo(part))), at)
}

/** A negative number of iterations is none in ONNX and no limit in IR. */
function tripOfLoop(call: SourceCall, w: Writer): Made | undefined {
  if (call.knows('trip')) {
    const trip = call.param<number | undefined>('trip')
    return trip === undefined || trip < 0 ? undefined : w.scalar('int64', trip)
  }
  const trip = numberParameter(call, 'trip', w)
  const most = w.scalar('int64', 2n ** 63n - 1n)
  return elementwise(w, 'Where', elementwise(w, 'Less', trip, w.scalar('int64', 0)), most, trip)
}

function tripOfIterator(call: SourceCall, w: Writer, { inputs }: LoopPorts, operands: readonly Made[]): Made {
  const trip = call.param<number | undefined>('trip')
  if (trip !== undefined) return w.scalar('int64', trip)
  const first = inputs.find(input => input.kind === 'sliced') ?? fail('unsupported-op', 'nothing is sliced')
  const { start, end, backward, part, axis } = first.slice
  const x = operands[first.operand]
  const size = dimAt(w, x, normalizeAxis(axis, rankOf(x)))
  const bound = (at: number): Made => (at < 0 ? add(w, size, w.constant('int64', [at])) : w.constant('int64', [at]))
  const [from, to] = backward ? [end, start] : [start, end]
  const length = add(w, sub(w, bound(to), bound(from)), w.constant('int64', [1]))
  return asScalar(w, part === 1 ? length : div(w, length, w.constant('int64', [part])))
}

/** The condition of an If, or the first one of a loop. */
export const conditionOf = (call: SourceCall, w: Writer): Made =>
  call.knows('condition')
    ? w.scalar('bool', call.param<boolean | undefined>('condition') ?? true)
    : asScalar(w, inputOf(call, 'condition'))

/** Empty outputs, as OpenVINO infers them where the first condition is a known false. */
const neverRun = (call: SourceCall, w: Writer): readonly Made[] =>
  call.results.map(fact => {
    if (fact.kind === 'tensor' && fact.type && fact.shape && isConcrete(fact.shape) && elementCount(fact.shape) === 0)
      return w.node('Identity', [w.constant(fact.type, [], fact.shape)])
    return fail('unsupported-op', 'a loop that never runs')
  })

/** Loop of ONNX: what the body reads from around it is an input of the layer, and stacked results get an axis. */
export function loopToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const ports = call.param<LoopPorts>('ports')
  const operands = call.all('operands')
  const carried = ports.inputs.filter(isCarried)
  const inBody = call.body('body')
  const body = w.body('body', {
    inputs: inner => {
      const iteration = inner.input(tensorFact('int64', []))
      return ports.inputs.map((input, i) => {
        if (input.kind === 'iteration')
          return input.dims.length === 0 ? iteration : inner.reshape(iteration, input.dims)
        // An iteration that runs has a condition that is true.
        if (input.kind === 'condition') return inner.constant('bool', [true], input.dims)
        if (!isCarried(input)) return fail('unsupported-op', `an input that is ${input.kind}`)
        return inner.input(carriedFact(operands[input.operand], inBody, inBody.inputs[i]))
      })
    },
    outputs: (results, inner) => [
      // Where no condition goes into the loop, ONNX does not look at that of the body.
      ports.condition === undefined ? inner.scalar('bool', true) : asScalar(inner, results[ports.condition]),
      ...carried.map(({ from }) => results[from]),
      ...ports.outputs.flatMap(output =>
        output.kind === 'concatenated' ? [unsqueezed(inner, results[output.from], [0])] : []
      )
    ]
  })
  const inputs = [tripForOpenvino(call, w), conditionOf(call, w), ...carried.map(({ operand }) => operands[operand])]
  const isStacked = ports.outputs.map(({ kind }) => kind === 'concatenated')
  return loopOfOpenvino(w, body, inputs, isStacked)
}

function tripForOpenvino(call: SourceCall, w: Writer): Made {
  if (call.knows('trip')) {
    const trip = call.param<number | undefined>('trip')
    return w.scalar('int64', trip === undefined ? -1 : Math.max(0, trip))
  }
  const trip = numberParameter(call, 'trip', w)
  return w.node('Maximum', [trip, w.scalar('int64', 0)])
}
