import { fail } from '../../errors.ts'
import { elementwise, expanded, gathered, reduced, squeezed, stacked } from '../../op-kit/conversion-kit.ts'
import { looped } from '../../op-kit/conversion-loops.ts'
import { add, clamped, mul, multiplied, part, split, sub, withAdded } from '../../op-kit/conversion-parts.ts'
import { counted, type Size, sizeAt, sizeList, sizeScalar, subSizes } from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  dimsOf,
  expands,
  knownSizes,
  type Made,
  type SourceCall,
  type Writer
} from '../../op-kit/conversion.ts'
import { dynamicQuantizeLstm } from './dynamic-quantize-lstm.ts'
import { dequantized, dynamically } from './qlinear-conversions.ts'

/** One direction of the layer: numbers without the axis of directions. */
interface Direction {
  /** Inputs times weights with all biases, `[steps, batch, gates]`. */
  readonly inputs: Made
  readonly recurrence: Made
  readonly peepholes: readonly Made[]
  readonly h: Made
  readonly c: Made
  readonly isBackward: boolean
}

/** Gates in the order i, o, f, c; steps and batch are the first axes of the data. */
function expandLstm(call: SourceCall, w: Writer): readonly (Made | undefined)[] {
  if (call.node.attributes.has('activations')) fail('unsupported-op', 'functions of gates other than the usual ones')
  if (call.param<boolean>('couplesForget')) fail('unsupported-op', 'gates of input and forgetting that are one')
  const x = call.operand('x')
  const [gates, size] = gatesOf(call)
  const given = call.optional('lengths')
  const lengths = given && w.reshape(w.cast(given, 'int64'), [-1, 1])
  const rounded = roundedInputs(w, x, lengths)
  const weights = ['w', 'r'].map(name => weightsOf(call, w, name as 'w' | 'r'))
  const steps = sizeAt(w, x, 0)
  const ends = call.param<readonly boolean[]>('directions').map((isBackward, at) => {
    const own = (value: Made): Made => squeezed(w, part(w, value, 0, at, at + 1), [0])
    const bias = call.optional('b')
    const biases = bias && split(w, own(bias), 0, [gates, gates])
    const product = multiplied(w, rounded, own(weights[0]))
    const zeros = expanded(w, w.scalar('float32', 0), sizeList(w, [sizeAt(w, x, 1), size]))
    const [h, c, p] = ['h', 'c', 'p'].map(name => {
      const state = call.optional(name)
      return state && own(state)
    })
    const direction = {
      inputs: biases ? add(w, product, add(w, biases[0], biases[1])) : product,
      recurrence: own(weights[1]),
      peepholes: p ? split(w, p, 0, [size, size, size]) : [],
      h: h ?? zeros,
      c: c ?? zeros,
      isBackward
    }
    return run(call, w, direction, steps, lengths)
  })
  const results = [
    stacked(
      w,
      ends.map(({ y }) => y),
      1
    ),
    ...[0, 1].map(i =>
      stacked(
        w,
        ends.map(({ states }) => states[i]),
        0
      )
    )
  ]
  return results.slice(0, call.outputCount)
}

/** Outputs of all gates, and the hidden size. */
function gatesOf(call: SourceCall): [number, number] {
  const [gates] = knownSizes('the hidden size', dimsOf(call.operand('w'))[2])
  return [gates, gates / 4]
}

/** `[directions, inputs, gates]`, with a scale for each direction or for each of its gates' outputs. */
function weightsOf(call: SourceCall, w: Writer, name: 'w' | 'r'): Made {
  const [scale, zero] = [`${name}Scale`, `${name}Zero`].map(each => {
    const parameter = w.cast(call.operand(each), 'float32')
    return w.reshape(parameter, dimsOf(parameter).length === 2 ? [0, 1, -1] : [-1, 1, 1])
  })
  return mul(w, sub(w, w.cast(call.operand(name), 'float32'), zero), scale)
}

/** The inputs rounded to 8 bits over their range up to the longest sequence. */
function roundedInputs(w: Writer, x: Made, lengths: Made | undefined): Made {
  if (lengths === undefined) return dynamically(w, x)
  const longest = w.reshape(reduced(w, 'ReduceMax', lengths, [0, 1], false), [1])
  const own = part(w, x, 0, 0, longest)
  const [, scale, zero] = w.standard('DynamicQuantizeLinear', [own], {}, 3)
  return dequantized(w, w.standard('QuantizeLinear', [x, scale, zero])[0], scale, zero)
}

function run(
  call: SourceCall,
  w: Writer,
  { inputs, recurrence, peepholes, h: first, c: cell, isBackward }: Direction,
  steps: Size,
  lengths: Made | undefined
): { y: Made; states: readonly Made[] } {
  const clip = call.param<number>('clip')
  const last = subSizes(w, steps, 1)
  const back = isBackward && typeof last !== 'number' ? sizeScalar(w, last) : undefined
  const [, size] = gatesOf(call)
  const { carried, stacked } = looped(w, { count: sizeScalar(w, steps) }, [first, cell], (inner, step, [h, c]) => {
    const end = back ?? inner.scalar('int64', typeof last === 'number' ? last : 0)
    const at = isBackward ? sub(inner, end, step) : step
    const product = multiplied(inner, dynamically(inner, h), recurrence)
    const sums = split(inner, add(inner, gathered(inner, inputs, at, 0), product), 1, [size, size, size, size])
    const bounded = (sum: Made): Made => (Number.isFinite(clip) ? clamped(inner, sum, -clip, clip) : sum)
    const seen = (sum: Made, state: Made, peephole: Made | undefined): Made =>
      bounded(withAdded(inner, sum, peephole && mul(inner, peephole, state)))
    const [pi, po, pf] = peepholes
    const sigmoid = (sum: Made): Made => elementwise(inner, 'Sigmoid', sum)
    const tanh = (sum: Made): Made => elementwise(inner, 'Tanh', sum)
    const [i, f] = [sigmoid(seen(sums[0], c, pi)), sigmoid(seen(sums[2], c, pf))]
    const next = add(inner, mul(inner, f, c), mul(inner, i, tanh(bounded(sums[3]))))
    const y = mul(inner, sigmoid(seen(sums[1], next, po)), tanh(next))
    if (lengths === undefined) return { next: [y, next], stacked: [y] }
    const isIn = elementwise(inner, 'Less', at, lengths)
    const choose = (a: Made, b: Made): Made => elementwise(inner, 'Where', isIn, a, b)
    return { next: [choose(y, h), choose(next, c)], stacked: [choose(y, inner.scalar('float32', 0))] }
  })
  return { y: isBackward ? gathered(w, stacked[0], reversed(w, steps), 0) : stacked[0], states: carried }
}

/** Positions of steps from the last one on. */
function reversed(w: Writer, steps: Size): Made {
  const last = sizeList(w, [subSizes(w, steps, 1)])
  return sub(w, last, counted(w, 0, steps))
}

/** A layer whose inputs and states are rounded to 8 bits, as a loop over its steps. */
export const quantizedLstmRules: readonly Conversion[] = expands(dynamicQuantizeLstm, expandLstm)
