import { fail } from '../../errors.ts'
import { dimAt, expanded, joined, squeezed, transposed, unsqueezed, zeroOf } from '../../op-kit/conversion-kit.ts'
import { add, mul, splitEvenly } from '../../op-kit/conversion-parts.ts'
import {
  type Conversions,
  dimsOf,
  type Made,
  refuses,
  type SourceCall,
  toOnnx,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import type { Op } from '../../op-kit/define.ts'
import { IR_SEQUENCE, type Layout, STEPS_FIRST } from '../../op-kit/recurrent-params.ts'
import { attnLstm } from './attn-lstm.ts'
import { gru } from './gru.ts'
import { lstm } from './lstm.ts'
import { rnn } from './rnn.ts'

/** What the operators are called, the order of their gates in the dialect that is written, and their functions. */
interface Net {
  readonly op: Op
  readonly onnx: string
  readonly openvino: string
  readonly onnxOrder: string
  readonly openvinoOrder: string
  readonly functions: readonly string[]
}

const NETS: readonly Net[] = [
  {
    op: lstm,
    onnx: 'LSTM',
    openvino: 'LSTMSequence',
    onnxOrder: 'iofc',
    openvinoOrder: 'fico',
    functions: ['sigmoid', 'tanh', 'tanh']
  },
  {
    op: gru,
    onnx: 'GRU',
    openvino: 'GRUSequence',
    onnxOrder: 'zrh',
    openvinoOrder: 'zrh',
    functions: ['sigmoid', 'tanh']
  },
  { op: rnn, onnx: 'RNN', openvino: 'RNNSequence', onnxOrder: 'h', openvinoOrder: 'h', functions: ['tanh'] }
]

/** A tensor with its axes in another order, by letters; axes of only one of the two layouts have size 1. */
function arranged(w: Writer, x: Made, from: string, to: string): Made {
  const added = [...to].filter(letter => !from.includes(letter))
  const axes = [...added, ...from]
  const dropped = axes.filter(letter => !to.includes(letter))
  const order = [...dropped, ...to].map(letter => axes.indexOf(letter))
  const all = unsqueezed(
    w,
    x,
    added.map((_, i) => i)
  )
  return squeezed(
    w,
    transposed(w, all, order),
    dropped.map((_, i) => i)
  )
}

/** Weights or biases `[direction, gates, …]` with the gates in another order. */
function reordered(w: Writer, x: Made, from: string, to: string): Made {
  if (from === to) return x
  const parts = splitEvenly(w, x, 1, from.length)
  return joined(
    w,
    [...to].map(gate => parts[from.indexOf(gate)]),
    1
  )
}

/** Names of the functions of one direction; IR's sequences have the same for both. */
function functionsOf(call: SourceCall, { functions }: Net): readonly string[] {
  const attribute = call.node.attributes.get('activations')
  const given =
    attribute?.kind === 'strings'
      ? attribute.value
      : attribute?.kind === 'text'
        ? attribute.value.split(',').map(name => name.trim())
        : []
  const names = given.filter(name => name !== '').map(name => name.toLowerCase())
  if (names.length === 0) return functions
  const other = names.find(name => !['relu', 'sigmoid', 'tanh'].includes(name))
  if (other !== undefined) fail('unsupported-op', `the function ${other} of a gate`)
  const [one, rest] = [names.slice(0, functions.length), names.slice(functions.length)]
  if (rest.some((name, i) => name !== one[i])) fail('unsupported-op', 'functions that differ by direction')
  return one
}

const directionOf = (directions: readonly boolean[]): string =>
  directions.length === 2 ? 'bidirectional' : directions[0] ? 'reverse' : 'forward'

/** Attributes that both dialects have. */
function sharedAttributes(call: SourceCall): Record<string, number | string> {
  const clip = call.param<number>('clip')
  return {
    direction: directionOf(call.param('directions')),
    hidden_size: hiddenSizeOf(call),
    ...(Number.isFinite(clip) && { clip })
  }
}

function hiddenSizeOf(call: SourceCall): number {
  const size = dimsOf(call.operand('r')).at(-1)
  const given = call.param<number>('hiddenSize')
  return typeof size === 'number' ? size : given > 0 ? given : fail('unsupported-op', 'the hidden size is not known')
}

const upper = (name: string): string => name[0].toUpperCase() + name.slice(1)

/** IR's cells and sequences: ONNX has steps before batches, other orders of gates and two biases for each. */
const netToOnnx =
  (net: Net) =>
  (call: SourceCall, w: Writer): readonly Made[] => {
    const layout = call.param<Layout>('layout')
    const order = net.op === lstm ? call.param<string>('order') : net.openvinoOrder
    const weights = (name: 'w' | 'r'): Made =>
      reordered(w, arranged(w, call.operand(name), layout[name], STEPS_FIRST[name]), order, net.onnxOrder)
    const state = (name: string): Made | undefined => {
      const given = call.optional(name)
      return given && arranged(w, given, layout.state, STEPS_FIRST.state)
    }
    const b = call.optional('b')
    const lengths = call.optional('lengths')
    const names = functionsOf(call, net).map(upper)
    const isBefore = net.op === gru && call.param<boolean>('linearBeforeReset')
    const outputs = w.nodes(
      net.onnx,
      [
        arranged(w, call.operand('x'), layout.x, STEPS_FIRST.x),
        weights('w'),
        weights('r'),
        b && biasesApart(w, arranged(w, b, layout.b, STEPS_FIRST.b), net, order, isBefore),
        lengths && w.cast(lengths, 'int32'),
        state('h'),
        ...(net.op === lstm ? [state('c')] : [])
      ],
      {
        ...sharedAttributes(call),
        activations: call.param<readonly boolean[]>('directions').flatMap(() => names),
        ...(isBefore && { linear_before_reset: 1 })
      },
      { outputs: net.op === lstm ? 3 : 2 }
    )
    const [y, ...states] = outputs
    return [
      ...(layout.y === undefined ? [] : [arranged(w, y, STEPS_FIRST.y!, layout.y)]),
      ...states.map(one => arranged(w, one, STEPS_FIRST.state, layout.state))
    ].slice(0, call.outputCount)
  }

/** The sums of the biases of input and recurrence; those of the hidden gate of GRU stay apart where they must. */
function biasesApart(w: Writer, b: Made, { onnxOrder }: Net, order: string, isBefore: boolean): Made {
  if (isBefore) {
    const [z, r, h, recurrence] = splitEvenly(w, b, 1, 4)
    const none = mul(w, z, zeroOf(w, typeOf(z)))
    return joined(w, [z, r, h, none, none, recurrence], 1)
  }
  const sums = reordered(w, b, order, onnxOrder)
  return joined(w, [sums, mul(w, sums, zeroOf(w, typeOf(sums)))], 1)
}

/** ONNX's layers, with what IR demands of the operands that ONNX leaves out. */
const netToOpenvino =
  (net: Net) =>
  (call: SourceCall, w: Writer): readonly Made[] => {
    if (call.has('p')) fail('unsupported-op', 'peepholes')
    if (net.op === lstm && call.param<boolean>('couplesForget')) fail('unsupported-op', 'input_forget')
    const layout = call.param<Layout>('layout')
    const x = arranged(w, call.operand('x'), layout.x, IR_SEQUENCE.x)
    const [batch, steps] = [dimAt(w, x, 0), dimAt(w, x, 1)]
    const type = typeOf(x)
    const count = call.param<readonly boolean[]>('directions').length
    const hidden = hiddenSizeOf(call)
    const state = (name: string): Made => {
      const given = call.optional(name)
      if (given) return arranged(w, given, layout.state, IR_SEQUENCE.state)
      return expanded(w, zeroOf(w, type), joined(w, [batch, w.constant('int64', [count, hidden])], 0))
    }
    const weights = (name: 'w' | 'r'): Made => reordered(w, call.operand(name), net.onnxOrder, net.openvinoOrder)
    const isBefore = net.op === gru && call.param<boolean>('linearBeforeReset')
    const functions = functionsOf(call, net)
    const outputs = w.nodes(
      net.openvino,
      [
        x,
        state('h'),
        ...(net.op === lstm ? [state('c')] : []),
        call.optional('lengths') ?? expanded(w, steps, batch),
        weights('w'),
        weights('r'),
        biasesSummed(call, w, net, isBefore, [count, hidden])
      ],
      {
        ...sharedAttributes(call),
        activations: functions,
        ...(net.op === gru && { linear_before_reset: isBefore })
      },
      { outputs: net.op === lstm ? 3 : 2 }
    )
    const [y, ...states] = outputs
    return [
      arranged(w, y, IR_SEQUENCE.y!, layout.y!),
      ...states.map(one => arranged(w, one, IR_SEQUENCE.state, layout.state))
    ].slice(0, call.outputCount)
  }

/** The sums of the biases of input and recurrence; those of GRU's hidden gate stay apart where they must. */
function biasesSummed(
  call: SourceCall,
  w: Writer,
  { onnxOrder, openvinoOrder }: Net,
  isBefore: boolean,
  [count, hidden]: readonly [number, number]
): Made {
  const b = call.optional('b')
  if (b === undefined) {
    const size = (isBefore ? 4 : onnxOrder.length) * hidden
    return expanded(w, zeroOf(w, typeOf(call.operand('x'))), w.constant('int64', [count, size]))
  }
  const [input, recurrence] = splitEvenly(w, b, 1, 2)
  if (!isBefore) return reordered(w, add(w, input, recurrence), onnxOrder, openvinoOrder)
  const [inputs, recurrences] = [splitEvenly(w, input, 1, 3), splitEvenly(w, recurrence, 1, 3)]
  const sums = [0, 1].map(i => add(w, inputs[i], recurrences[i]))
  return joined(w, [...sums, inputs[2], recurrences[2]], 1)
}

/** Recurrent layers in words of the other dialect. */
export const recurrentConversions: Conversions = {
  rules: [
    ...NETS.flatMap(net => [toOnnx(net.op, netToOnnx(net)), toOpenvino(net.op, netToOpenvino(net))]),
    refuses(attnLstm, 'openvino', 'attention over a memory at each step of a recurrence')
  ],
  leniencies: []
}
