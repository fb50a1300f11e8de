import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { heapAllocate, heapFree, heapStats } from '../../../src/wasm/heap.ts'
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
          if (count === directions) {
            given[4] = new Tensor(
              'int32',
              Array.from({ length: s.batch }, (_, i) => Math.max(0, s.steps - 2 * i)),
              [s.batch]
            )
            given[7] = noise([directions, 3 * hidden], 8, 0.5)
          }
          for (const constants of [{ w: 1, r: 2, b: 3, wScale: 8, wZero: 9, rScale: 10, rZero: 11 }, {}]) {
            const other = { clip: 0.7, activations: Array<string>(3 * directions).fill('HardSigmoid'), input_forget: 1 }
            const attributes = { hidden_size: hidden, direction: directionOf(s), ...(count === directions && other) }
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

/** Activation functions with the parameters that they take. */
const FUNCTIONS: Readonly<Record<string, readonly ('alpha' | 'beta')[]>> = {
  Relu: [],
  Tanh: [],
  Sigmoid: [],
  Affine: ['alpha', 'beta'],
  LeakyRelu: ['alpha'],
  ThresholdedRelu: ['alpha'],
  ScaledTanh: ['alpha', 'beta'],
  HardSigmoid: ['alpha', 'beta'],
  Elu: ['alpha'],
  Softsign: [],
  Softplus: []
}
const layers = { LSTM: { gates: 4, functions: 3 }, GRU: { gates: 3, functions: 2 }, RNN: { gates: 1, functions: 1 } }

/** A layer with attributes and lengths of any kind. */
const anyLayer = fc.record({
  type: fc.constantFrom('LSTM', 'GRU', 'RNN'),
  steps: fc.integer({ min: 1, max: 9 }),
  batch: fc.integer({ min: 1, max: 7 }),
  inputs: fc.integer({ min: 8, max: 19 }),
  hidden: fc.integer({ min: 13, max: 23 }),
  direction: fc.constantFrom('forward', 'reverse', 'bidirectional'),
  layout: fc.constantFrom(0, 1),
  clip: fc.constantFrom(undefined, 0.25, 1.5),
  names: fc.option(fc.array(fc.constantFrom(...Object.keys(FUNCTIONS)), { minLength: 6, maxLength: 6 })),
  numbers: fc.array(fc.constantFrom(0.125, 0.5, -0.25, 0.75), { minLength: 12, maxLength: 12 }),
  lengths: fc.option(fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 7, maxLength: 7 })),
  hasPeepholes: fc.boolean(),
  couples: fc.constantFrom(0, 1),
  linear: fc.constantFrom(0, 1),
  unwanted: fc.constantFrom([], [0], [1]),
  isPacked: fc.boolean(),
  threads: fc.constantFrom(1, 2),
  region: fc.constantFrom('heap' as const, 'array' as const)
})
type AnyLayer = typeof anyLayer extends fc.Arbitrary<infer T> ? T : never

function attributesOf({ type, direction, layout, clip, names, numbers, couples, linear, hidden }: AnyLayer) {
  const { functions } = layers[type]
  const activations = names?.slice(0, functions * (direction === 'bidirectional' ? 2 : 1))
  const taken = (which: 'alpha' | 'beta'): number[] =>
    numbers.slice(0, activations?.filter(name => FUNCTIONS[name].includes(which)).length ?? 0)
  return {
    hidden_size: hidden,
    direction,
    layout,
    ...(clip !== undefined && { clip }),
    ...(activations && { activations, activation_alpha: taken('alpha'), activation_beta: taken('beta') }),
    ...(type === 'LSTM' && { input_forget: couples }),
    ...(type === 'GRU' && { linear_before_reset: linear })
  }
}

test('layers of any attributes, functions and lengths equal the reference', () => {
  fc.assert(
    fc.property(anyLayer, layer => {
      const { type, batch, hidden, direction, layout, lengths } = layer
      // Functions without bounds let states, and errors with them, grow fast from step to step.
      const steps = layer.names && layer.clip === undefined ? Math.min(3, layer.steps) : layer.steps
      const directions = direction === 'bidirectional' ? 2 : 1
      const sizes = { steps, batch, inputs: layer.inputs, hidden, directions }
      const inputs: (Tensor | undefined)[] = onnxInputs(layers[type].gates, sizes, layout, 0.2)
      if (lengths) {
        const own = lengths.slice(0, batch).map(length => Math.min(length, steps))
        inputs[4] = new Tensor('int32', own, [batch])
      }
      if (type === 'LSTM' && layer.hasPeepholes) inputs.push(noise([directions, 3 * hidden], 7, 0.2))
      const { unwanted, threads, region, isPacked } = layer
      const options = {
        attributes: attributesOf(layer),
        unwanted,
        threads,
        region,
        constants: isPacked ? CONSTANTS : {},
        outputs: type === 'LSTM' ? 3 : 2,
        // What functions give may be small beside what they are given, and cells beside states.
        least: 1e-3
      }
      expectEqual(['onnx', type, 14], inputs, options, 1e-4)
    }),
    { numRuns: 300 }
  )
})

describe('sequences of unequal lengths', () => {
  const s = { steps: 40, batch: 21, inputs: 30, hidden: 96, directions: 2 }
  const lengths = new Tensor(
    'int32',
    Array.from({ length: 21 }, (_, b) => (b * 17) % 41),
    [21]
  )

  test.each([1, 2])('of a larger layer equal the reference, by %i threads', threads => {
    const attributes = { hidden_size: 96, direction: 'bidirectional' }
    const options = { attributes, constants: CONSTANTS, threads }
    const inputs = (gates: number, scale: number): Tensor[] => onnxInputs(gates, s, 0, scale).with(4, lengths)
    expectEqual(LSTM, inputs(4, 0.25), { ...options, outputs: 3 }, TOLERANCE)
    expectEqual(GRU, inputs(3, 0.25), { ...options, outputs: 2 }, TOLERANCE)
    expectEqual(RNN, inputs(1, 0.1), { ...options, outputs: 2 }, TOLERANCE)
  })

  test('of OpenVINO equal the reference', () => {
    const [batch, hidden, inputs] = [3, 12, 20]
    const given = [
      noise([batch, 6, inputs], 1),
      noise([batch, 1, hidden], 5),
      noise([batch, 1, hidden], 6),
      new Tensor('int64', [6n, 0n, 4n], [batch]),
      noise([1, 4 * hidden, inputs], 2, 0.5),
      noise([1, 4 * hidden, hidden], 3, 0.5),
      noise([1, 4 * hidden], 4, 0.5)
    ]
    for (const direction of ['forward', 'reverse']) {
      const attributes = { hidden_size: hidden, direction, clip: 0.7, activations: ['relu', 'tanh', 'sigmoid'] }
      expectEqual(['openvino', 'LSTMSequence', 5], given, { attributes, outputs: 3 }, TOLERANCE)
    }
  })

  test('that no sequence has are refused', () => {
    const inputs = onnxInputs(4, { ...s, steps: 3, batch: 2 }).with(4, new Tensor('int32', [3, 4], [2]))
    const call = (): unknown =>
      runAccelerated(LSTM, inputs, { attributes: { hidden_size: 96, direction: 'bidirectional' } })
    expect(call).toThrow('the length of sequence 1 is 4; expected 0..3')
  })
})

test.each([
  ['LSTM', 'the peepholes', 4],
  ['GRU', 'the bias of the hidden gate', 3]
] as const)('%s equals the reference where the heap has no room for %s', (type, _, gates) => {
  // So much work is not done at once, through the stage.
  const s = { steps: 10, batch: 16, inputs: 8, hidden: 128, directions: 1 }
  const peepholes = type === 'LSTM' ? [noise([1, 3 * s.hidden], 7)] : []
  const attributes = { hidden_size: s.hidden, ...(type === 'GRU' && { linear_before_reset: 1 }) }
  const expectIt = (): void =>
    expectEqual(
      ['onnx', type, 14],
      [...onnxInputs(gates, s), ...peepholes],
      { region: 'array', attributes, outputs: 2 },
      TOLERANCE
    )
  expectIt()
  const take = (numbers: number): Uint8Array | undefined => heapAllocate(4 * numbers, { zero: false })
  const state = s.batch * s.hidden
  const sizes = [state, ...(type === 'LSTM' ? [state] : []), s.steps * gates * state, gates * s.hidden ** 2]
  const room = sizes.map(take)
  const held: Uint8Array[] = []
  for (let size = 2 ** 28; size >= 16;) {
    const block = take(size)
    if (block) held.push(block)
    else size /= 2
  }
  for (const block of room) if (block) heapFree(block)
  try {
    expectIt()
  } finally {
    held.forEach(heapFree)
  }
})

test('layers without steps are left to the reference', () => {
  const none = onnxInputs(4, { steps: 0, batch: 2, inputs: 20, hidden: 16, directions: 1 })
  expect(() => runAccelerated(LSTM, none, { attributes: { hidden_size: 16 } })).toThrow('no accelerated kernel')
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
