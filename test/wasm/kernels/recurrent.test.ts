import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { heapStats } from '../../../src/wasm/heap.ts'
import type { Kind } from '../../ops/harness.ts'
import { codes } from '../bytes.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const LSTM: Kind = ['onnx', 'LSTM', 14]
const GRU: Kind = ['onnx', 'GRU', 14]
const RNN: Kind = ['onnx', 'RNN', 14]
const CONSTANTS = { w: 1, r: 2, b: 3 }
/** Sums of float32 over some steps against sums of doubles. */
const TOLERANCE = 2e-6

interface Sizes {
  readonly steps: number
  readonly batch: number
  readonly inputs: number
  readonly hidden: number
  readonly directions: number
}

const sizes = [
  { steps: 8, batch: 1, inputs: 20, hidden: 16, directions: 1 },
  { steps: 5, batch: 3, inputs: 13, hidden: 21, directions: 2 },
  { steps: 4, batch: 9, inputs: 40, hidden: 34, directions: 1 },
  { steps: 1, batch: 2, inputs: 8, hidden: 40, directions: 2 },
  { steps: 30, batch: 2, inputs: 3, hidden: 9, directions: 2 }
]

/** Inputs of ONNX: X, W, R, B, no lengths, initial states. */
function onnxInputs(gates: number, s: Sizes, layout = 0, scale = 0.5): Tensor[] {
  const { steps, batch, inputs, hidden, directions } = s
  const state = layout === 0 ? [directions, batch, hidden] : [batch, directions, hidden]
  const all = [
    noise(layout === 0 ? [steps, batch, inputs] : [batch, steps, inputs], 1),
    noise([directions, gates * hidden, inputs], 2, scale),
    noise([directions, gates * hidden, hidden], 3, scale),
    noise([directions, 2 * gates * hidden], 4, scale),
    new Tensor('int32', new Int32Array(batch).fill(steps), [batch]),
    noise(state, 5)
  ]
  return gates === 4 ? [...all, noise(state, 6)] : all
}

const directionOf = ({ directions }: Sizes): string => (directions === 2 ? 'bidirectional' : 'reverse')

describe.each(['heap', 'array'] as const)('recurrent layers of float32 in WebAssembly, operands in an %s', region => {
  test.each(sizes)('LSTM equals the reference: %j', s => {
    for (const layout of [0, 1])
      for (const direction of [directionOf(s), ...(s.directions === 1 ? ['forward'] : [])])
        for (const constants of [CONSTANTS, {}]) {
          const attributes = { hidden_size: s.hidden, direction, layout }
          const options = { region, attributes, constants, outputs: 3 }
          expectEqual(LSTM, onnxInputs(4, s, layout), options, TOLERANCE)
          expectEqual(LSTM, onnxInputs(4, s, layout).slice(0, 3), options, TOLERANCE)
          const peepholes = noise([s.directions, 3 * s.hidden], 7, 0.5)
          expectEqual(LSTM, [...onnxInputs(4, s, layout), peepholes], options, TOLERANCE)
        }
  })

  test.each(sizes.slice(0, 4))(
    'DynamicQuantizeLSTM equals the reference, where no state lies between two codes: %j',
    s => {
      const { inputs, hidden, directions } = s
      for (const [type, zero] of [
        ['uint8', 120],
        ['int8', -3]
      ] as const)
        for (const count of [directions, directions * 4 * hidden]) {
          const dims = count === directions ? [directions] : [directions, 4 * hidden]
          const scales = new Tensor('float32', Array.from(noise([count], 7, 0.004).data, Math.abs), dims)
          const zeros = new Tensor(type, new Array<number>(count).fill(zero), dims)
          const [x, , , b, lengths, h, c] = onnxInputs(4, s)
          const weights = [
            codes(type, [directions, inputs, 4 * hidden], 2),
            codes(type, [directions, hidden, 4 * hidden], 3)
          ]
          const given = [x, ...weights, b, lengths, h, c, undefined, scales, zeros, scales, zeros]
          for (const constants of [{ w: 1, r: 2, b: 3, wScale: 8, wZero: 9, rScale: 10, rZero: 11 }, {}]) {
            const attributes = { hidden_size: hidden, direction: directionOf(s) }
            const kind: Kind = ['onnx', 'DynamicQuantizeLSTM', 1, 'com.microsoft']
            expectEqual(kind, given, { region, attributes, constants, outputs: 3 }, TOLERANCE)
          }
        }
    }
  )

  test.each(sizes)('GRU equals the reference: %j', s => {
    for (const linear of [0, 1])
      for (const layout of [0, 1])
        for (const constants of [CONSTANTS, {}]) {
          const attributes = { hidden_size: s.hidden, direction: directionOf(s), layout, linear_before_reset: linear }
          const options = { region, attributes, constants, outputs: 2 }
          expectEqual(GRU, onnxInputs(3, s, layout), options, TOLERANCE)
          expectEqual(GRU, onnxInputs(3, s, layout).slice(0, 3), options, TOLERANCE)
        }
  })

  test.each(sizes)('RNN equals the reference: %j', s => {
    const names = ['Tanh', 'Relu', 'Sigmoid']
    for (const [i, first] of names.entries())
      for (const layout of [0, 1])
        for (const constants of [CONSTANTS, {}]) {
          const activations = [first, names[(i + 1) % 3]].slice(0, s.directions)
          const attributes = { hidden_size: s.hidden, direction: directionOf(s), layout, activations }
          const options = { region, attributes, constants, outputs: 2 }
          expectEqual(RNN, onnxInputs(1, s, layout), options, TOLERANCE)
          expectEqual(RNN, onnxInputs(1, s, layout).slice(0, 3), options, TOLERANCE)
        }
  })

  test.each(sizes)('sequences of OpenVINO equal the reference: %j', s => {
    const { steps, batch, inputs, hidden, directions } = s
    const attributes = { hidden_size: hidden, direction: directionOf(s) }
    const state = (seed: number): Tensor => noise([batch, directions, hidden], seed)
    const lengths = new Tensor('int64', new BigInt64Array(batch).fill(BigInt(steps)), [batch])
    const x = noise([batch, steps, inputs], 1)
    const weights = (gates: number, biases: number): Tensor[] => [
      noise([directions, gates * hidden, inputs], 2, 0.5),
      noise([directions, gates * hidden, hidden], 3, 0.5),
      noise([directions, biases * hidden], 4, 0.5)
    ]
    const rnn: Kind = ['openvino', 'RNNSequence', 5]
    const rnnInputs = [x, state(5), lengths, ...weights(1, 1)]
    expectEqual(rnn, rnnInputs, { region, attributes, constants: { w: 3, r: 4, b: 5 }, outputs: 2 }, TOLERANCE)
    const lstm: Kind = ['openvino', 'LSTMSequence', 5]
    const lstmInputs = [x, state(5), state(6), lengths, ...weights(4, 4)]
    expectEqual(lstm, lstmInputs, { region, attributes, constants: { w: 4, r: 5, b: 6 }, outputs: 3 }, TOLERANCE)
    for (const linear of [false, true]) {
      const gruInputs = [x, state(5), lengths, ...weights(3, linear ? 4 : 3)]
      const options = { region, attributes: { ...attributes, linear_before_reset: linear }, outputs: 2 }
      expectEqual(['openvino', 'GRUSequence', 5], gruInputs, options, TOLERANCE)
    }
  })

  test('cells of OpenVINO equal the reference', () => {
    const [batch, inputs, hidden] = [3, 30, 22]
    const state = (seed: number): Tensor => noise([batch, hidden], seed)
    const weights = (gates: number): Tensor[] => [
      noise([gates * hidden, inputs], 2),
      noise([gates * hidden, hidden], 3),
      noise([gates * hidden], 4)
    ]
    const x = noise([batch, inputs], 1)
    const constants = { w: 3, r: 4, b: 5 }
    const options = { region, attributes: { hidden_size: hidden }, constants, outputs: 2 }
    expectEqual(['openvino', 'LSTMCell', 1], [x, state(5), state(6), ...weights(4)], options, TOLERANCE)
    expectEqual(
      ['openvino', 'GRUCell', 3],
      [x, state(5), ...weights(3)],
      { region, attributes: { hidden_size: hidden } },
      TOLERANCE
    )
  })

  test('are shared by two threads: directions, and sequences of one direction', () => {
    for (const directions of [1, 2]) {
      const s = { steps: 20, batch: 21, inputs: 30, hidden: 96, directions }
      const attributes = { hidden_size: 96, direction: directionOf(s) }
      const options = { region, attributes, constants: CONSTANTS, threads: 2 }
      expectEqual(LSTM, onnxInputs(4, s), { ...options, outputs: 3 }, TOLERANCE)
      // Over twenty steps, larger weights let errors of a state grow to the tolerance, whichever way sums are made.
      expectEqual(GRU, onnxInputs(3, s, 0, 0.25), { ...options, outputs: 2 }, TOLERANCE)
      expectEqual(RNN, onnxInputs(1, s, 0, 0.1), { ...options, outputs: 2 }, TOLERANCE)
    }
  })

  test('keep NaN and infinities', () => {
    const s = { steps: 3, batch: 3, inputs: 20, hidden: 16, directions: 1 }
    const inputs = onnxInputs(4, s)
    inputs[0].data[0] = NaN
    inputs[0].data[25] = Infinity
    inputs[6].data[35] = -Infinity
    expectEqual(LSTM, inputs, { region, attributes: { hidden_size: 16 }, outputs: 3 }, TOLERANCE)
    const simple = onnxInputs(1, { ...s, inputs: 40 }).with(5, inputs[6])
    simple[0].data[0] = NaN
    const attributes = { hidden_size: 16, activations: ['Relu'] }
    expectEqual(RNN, simple, { region, attributes, outputs: 2 }, TOLERANCE)
  })
})

describe('recurrent layers that are left to the reference', () => {
  const s = { steps: 6, batch: 2, inputs: 20, hidden: 16, directions: 1 }

  test('shorter sequences', () => {
    const inputs = onnxInputs(4, s)
    inputs[4] = new Tensor('int32', [6, 2], [2])
    expectEqual(LSTM, inputs, { attributes: { hidden_size: 16 }, constants: CONSTANTS, outputs: 3 }, 0)
  })

  test.each([
    ['clip', { clip: 0.5 }],
    ['coupled gates', { input_forget: 1 }],
    ['other functions', { activations: ['Sigmoid', 'Relu', 'Tanh'] }]
  ])('%s of LSTM', (_, attributes) => {
    const call = (): unknown =>
      runAccelerated(LSTM, onnxInputs(4, s), { attributes: { hidden_size: 16, ...attributes } })
    expect(call).toThrow('no accelerated kernel')
  })

  test.each([{ clip: 0.5 }, { activations: ['Elu'] }])('RNN with %j', attributes => {
    const call = (): unknown =>
      runAccelerated(RNN, onnxInputs(1, { ...s, inputs: 40 }), { attributes: { hidden_size: 16, ...attributes } })
    expect(call).toThrow('no accelerated kernel')
  })

  test('no steps', () => {
    const attributes = { hidden_size: 16 }
    const none = onnxInputs(4, { ...s, steps: 0 })
    expect(() => runAccelerated(LSTM, none, { attributes })).toThrow('no accelerated kernel')
  })
})

test('recurrent layers give temporary memory back', () => {
  const s = { steps: 6, batch: 2, inputs: 20, hidden: 16, directions: 1 }
  // Operands lie in arrays, so all blocks are temporary but those that the first run makes for good.
  const run = (): unknown =>
    runAccelerated(LSTM, onnxInputs(4, s), { region: 'array', attributes: { hidden_size: 16 }, outputs: 3 })
  run()
  const { blocks } = heapStats()
  run()
  expect(heapStats().blocks).toBe(blocks)
})
