import { describe, expect, test } from 'vitest'
import { toNumbers } from '../../../src/tensor/elements.ts'
import { encodeFloat } from '../../../src/tensor/floats.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { type CallOptions, dimsOf, errorOf, fact, inferOp, type Kind, runOp } from '../harness.ts'
import { close, f32, ints, permuted, reshaped, run, some } from './tensors.ts'

/** Blocks of the rows of gates in another order. */
function regated(tensor: Tensor, from: string, to: string, axis: number): Tensor {
  const outer = tensor.dims.slice(0, axis).reduce((a, b) => a * b, 1)
  const block = tensor.data.length / outer / from.length
  const data = Array.from({ length: outer }, (_, o) =>
    [...to].flatMap(gate => {
      const start = (o * from.length + from.indexOf(gate)) * block
      return [...(tensor.data as Float32Array).slice(start, start + block)]
    })
  ).flat()
  return f32([...tensor.dims], data)
}

interface Net {
  readonly kind: 'RNN' | 'GRU' | 'LSTM'
  readonly gates: number
  readonly states: number
}
const NETS: readonly Net[] = [
  { kind: 'RNN', gates: 1, states: 1 },
  { kind: 'GRU', gates: 3, states: 1 },
  { kind: 'LSTM', gates: 4, states: 2 }
]
const [STEPS, BATCH, INPUT, HIDDEN] = [5, 3, 4, 2]

/** Inputs of an ONNX layer in their order. */
const onnxInputs = ({ gates, states }: Net, directions: number, lengths?: Tensor): (Tensor | undefined)[] => [
  some(1, STEPS, BATCH, INPUT),
  some(2, directions, gates * HIDDEN, INPUT),
  some(3, directions, gates * HIDDEN, HIDDEN),
  some(4, directions, 2 * gates * HIDDEN),
  lengths,
  ...Array.from({ length: states }, (_, i) => some(5 + i, directions, BATCH, HIDDEN))
]

describe.each(NETS)('$kind', net => {
  const { kind, gates, states } = net
  const onnx: Kind = ['onnx', kind, 14]
  const outputs = 1 + states
  const layer = (inputs: (Tensor | undefined)[], attributes: CallOptions['attributes'] = {}): Tensor[] =>
    run(onnx, inputs, outputs, { hidden_size: HIDDEN, ...attributes })

  test('reverse is forward on the reversed input', () => {
    const inputs = onnxInputs(net, 1)
    const x = inputs[0]!
    const turned = f32(
      [STEPS, BATCH, INPUT],
      Array.from({ length: STEPS }, (_, s) => [
        ...(x.data as Float32Array).slice((STEPS - 1 - s) * BATCH * INPUT, (STEPS - s) * BATCH * INPUT)
      ]).flat()
    )
    const [y, ...last] = layer(inputs, { direction: 'reverse' })
    const [forward, ...forwardLast] = layer([turned, ...inputs.slice(1)])
    const row = BATCH * HIDDEN
    for (let s = 0; s < STEPS; s++)
      expect((y.data as Float32Array).slice(s * row, (s + 1) * row)).toEqual(
        (forward.data as Float32Array).slice((STEPS - 1 - s) * row, (STEPS - s) * row)
      )
    last.forEach((state, i) => expect(state.data).toEqual(forwardLast[i].data))
  })

  test('bidirectional is both, each with its own weights, states and functions', () => {
    const inputs = onnxInputs(net, 2)
    const functions = {
      RNN: ['Relu', 'Tanh'],
      GRU: ['Sigmoid', 'Tanh', 'Tanh', 'Relu'],
      LSTM: ['Sigmoid', 'Tanh', 'Tanh', 'Sigmoid', 'Relu', 'Softsign']
    }[kind]
    const half = functions.length / 2
    const [y, ...last] = layer(inputs, { direction: 'bidirectional', activations: functions })
    expect(y.dims).toEqual([STEPS, 2, BATCH, HIDDEN])
    for (const [d, direction] of ['forward', 'reverse'].entries()) {
      const own = inputs.map((tensor, i) =>
        i === 0 || !tensor
          ? tensor
          : f32(
              [1, ...tensor.dims.slice(1)],
              (tensor.data as Float32Array).slice((d * tensor.data.length) / 2, ((d + 1) * tensor.data.length) / 2)
            )
      )
      const [single, ...singleLast] = layer(own, { direction, activations: functions.slice(d * half, (d + 1) * half) })
      const row = BATCH * HIDDEN
      for (let s = 0; s < STEPS; s++)
        expect((y.data as Float32Array).slice((2 * s + d) * row, (2 * s + d + 1) * row)).toEqual(
          (single.data as Float32Array).slice(s * row, (s + 1) * row)
        )
      last.forEach((state, i) =>
        expect((state.data as Float32Array).slice(d * row, (d + 1) * row)).toEqual(singleLast[i].data)
      )
    }
  })

  test('a shorter sequence is what it would be alone; the rest is zeros', () => {
    for (const direction of ['forward', 'reverse']) {
      const inputs = onnxInputs(net, 1, ints(2, 5, 0))
      const [y, ...last] = layer(inputs, { direction })
      const pick = (tensor: Tensor, axis: number, at: number): Tensor => {
        const inner = tensor.dims.slice(axis + 1).reduce((a, b) => a * b, 1)
        const step = tensor.dims[axis] * inner
        return f32(
          tensor.dims.with(axis, 1),
          Array.from({ length: tensor.data.length / step }, (_, o) => [
            ...(tensor.data as Float32Array).slice(o * step + at * inner, o * step + (at + 1) * inner)
          ]).flat()
        )
      }
      const short = f32([2, 1, INPUT], (pick(inputs[0]!, 1, 0).data as Float32Array).slice(0, 2 * INPUT))
      const [alone, ...aloneLast] = layer(
        [short, inputs[1], inputs[2], inputs[3], undefined, ...inputs.slice(5).map(state => pick(state!, 1, 0))],
        { direction }
      )
      expect([...(pick(y, 2, 0).data as Float32Array)]).toEqual([
        ...(alone.data as Float32Array),
        ...new Array<number>(3 * HIDDEN).fill(0)
      ])
      last.forEach((state, i) =>
        expect([...(pick(state, 1, 0).data as Float32Array)]).toEqual([...(aloneLast[i].data as Float32Array)])
      )
      for (const tensor of [pick(y, 2, 2), ...last.map(state => pick(state, 1, 2))])
        expect([...(tensor.data as Float32Array)].every(value => value === 0)).toBe(true)
    }
  })

  test('layout 1 has the batch first', () => {
    const inputs = onnxInputs(net, 2)
    const [y, ...last] = layer(inputs, { direction: 'bidirectional' })
    const moved = [
      permuted(inputs[0]!, [1, 0, 2]),
      inputs[1],
      inputs[2],
      inputs[3],
      undefined,
      ...inputs.slice(5).map(state => permuted(state!, [1, 0, 2]))
    ]
    const [batchFirst, ...batchLast] = layer(moved, { direction: 'bidirectional', layout: 1 })
    expect(batchFirst.dims).toEqual([BATCH, STEPS, 2, HIDDEN])
    close(batchFirst, permuted(y, [2, 0, 1, 3]).data as Float32Array)
    last.forEach((state, i) => close(batchLast[i], permuted(state, [1, 0, 2]).data as Float32Array))
  })

  test('an IR sequence is the same layer with summed biases and its own order of gates', () => {
    const inputs = onnxInputs(net, 2, ints(5, 3, 1))
    const [y, ...last] = layer(inputs, { direction: 'bidirectional' })
    const size = gates * HIDDEN
    const b = inputs[3]!.data as Float32Array
    const summed = f32(
      [2, size],
      Array.from({ length: 2 * size }, (_, i) => {
        const at = Math.floor(i / size) * 2 * size + (i % size)
        return b[at] + b[at + size]
      })
    )
    const order = (tensor: Tensor): Tensor => (kind === 'LSTM' ? regated(tensor, 'iofc', 'fico', 1) : tensor)
    const states = inputs.slice(5).map(state => permuted(state!, [1, 0, 2]))
    const irInputs = [
      permuted(inputs[0]!, [1, 0, 2]),
      ...states,
      ints(5, 3, 1),
      order(inputs[1]!),
      order(inputs[2]!),
      order(summed)
    ]
    const [irY, ...irLast] = run(['openvino', `${kind}Sequence`, 5], irInputs, outputs, {
      hidden_size: HIDDEN,
      direction: 'bidirectional'
    })
    expect(irY.dims).toEqual([BATCH, 2, STEPS, HIDDEN])
    close(irY, permuted(y, [2, 1, 0, 3]).data as Float32Array)
    last.forEach((state, i) => close(irLast[i], permuted(state, [1, 0, 2]).data as Float32Array))
  })

  test('an IR cell is one step of a sequence', () => {
    const size = gates * HIDDEN
    const [x, w, r, b] = [some(1, BATCH, INPUT), some(2, size, INPUT), some(3, size, HIDDEN), some(4, size)]
    const own = Array.from({ length: states }, (_, i) => some(5 + i, BATCH, HIDDEN))
    const opset = kind === 'LSTM' ? 4 : 3
    const cell = run(['openvino', `${kind}Cell`, opset], [x, ...own, w, r, b], states, { hidden_size: HIDDEN })
    const sequence = run(
      ['openvino', `${kind}Sequence`, 5],
      [
        reshaped(x, [BATCH, 1, INPUT]),
        ...own.map(state => reshaped(state, [BATCH, 1, HIDDEN])),
        ints(1, 1, 1),
        reshaped(w, [1, size, INPUT]),
        reshaped(r, [1, size, HIDDEN]),
        reshaped(b, [1, size])
      ],
      outputs,
      { hidden_size: HIDDEN, direction: 'forward' }
    )
    cell.forEach((state, i) => {
      expect(state.dims).toEqual([BATCH, HIDDEN])
      expect(state.data).toEqual(sequence[i + 1].data)
    })
  })

  test('many steps go in parts and give the same', () => {
    const long = 3000
    const x = some(1, long, 1, 2)
    const rest = [some(2, 1, gates * 40, 2), some(3, 1, gates * 40, 40)]
    const [y, last] = run(onnx, [x, ...rest], outputs, { hidden_size: 40 })
    const [head, ...between] = run(
      onnx,
      [f32([1000, 1, 2], (x.data as Float32Array).slice(0, 2000)), ...rest],
      outputs,
      { hidden_size: 40 }
    )
    expect((y.data as Float32Array).slice(0, 40000)).toEqual(head.data)
    const tail = run(
      onnx,
      [f32([2000, 1, 2], (x.data as Float32Array).slice(2000)), ...rest, undefined, undefined, ...between],
      outputs,
      { hidden_size: 40 }
    )
    close(last, tail[1].data as Float32Array)
  })

  test('float16 is computed wide and rounded once', () => {
    const inputs = onnxInputs(net, 1)
    const half = inputs.map(
      tensor =>
        tensor &&
        new Tensor(
          'float16',
          Uint16Array.from(tensor.data as Float32Array, value => encodeFloat('float16', value)),
          tensor.dims
        )
    )
    const exact = layer(half.map(tensor => tensor && f32([...tensor.dims], toNumbers(tensor))))
    layer(half).forEach((tensor, i) =>
      expect([...(tensor.data as Uint16Array)]).toEqual(
        [...(exact[i].data as Float32Array)].map(value => encodeFloat('float16', value))
      )
    )
  })

  test('lengths beyond the steps or below 0 are refused, when known before the run', () => {
    for (const length of [6, -1]) {
      expect(errorOf(() => layer(onnxInputs(net, 1, ints(1, length, 0)))).code).toBe('value-out-of-range')
      expect(
        errorOf(() =>
          inferOp(onnx, onnxInputs(net, 1, ints(1, length, 0)), { outputs, attributes: { hidden_size: HIDDEN } })
        ).code
      ).toBe('value-out-of-range')
    }
  })

  test('shapes follow names; sizes that contradict are refused', () => {
    const size = gates * 8
    const infer = (x: (number | string)[], w: (number | string)[], r: (number | string)[], hidden = 8): unknown[] =>
      inferOp(onnx, [fact('float32', x), fact('float32', w), fact('float32', r)], {
        outputs,
        attributes: { hidden_size: hidden }
      }).map(dimsOf)
    expect(infer(['s', 'n', 3], [1, size, 3], [1, size, 8])).toEqual([
      ['s', 1, 'n', 8],
      ...new Array<unknown>(states).fill([1, 'n', 8])
    ])
    expect(infer(['s', 'n', '?'], ['?', '?', '?'], ['?', '?', '?'])[0]).toEqual(['s', 1, 'n', 8])
    expect(errorOf(() => infer(['s', 'n', 4], [1, size, 3], [1, size, 8])).code).toBe('dims-mismatch')
    expect(errorOf(() => infer(['s', 'n', 3], [1, size, 3], [1, size, 7])).code).toBe('dims-mismatch')
    expect(errorOf(() => infer(['s', 'n', 3], [2, size, 3], [1, size, 8])).code).toBe('dims-mismatch')
    expect(errorOf(() => infer(['s', 'n', 3], [1, size, 3], [1, size, 8], 9)).code).toBe('dims-mismatch')
    expect(errorOf(() => infer(['s', 3], [1, size, 3], [1, size, 8])).code).toBe('rank-mismatch')
  })
})

test('without hidden_size the recurrence weights tell the hidden size', () => {
  const inputs = onnxInputs(NETS[1], 1)
  expect(run(['onnx', 'GRU', 14], inputs, 2).map(tensor => tensor.dims)).toEqual([
    [STEPS, 1, BATCH, HIDDEN],
    [1, BATCH, HIDDEN]
  ])
})

test('LSTMCell-1 is LSTMCell-4, whatever weights_format and input_forget say', () => {
  const inputs = [some(1, 2, 3), some(2, 2, 2), some(3, 2, 2), some(4, 8, 3), some(5, 8, 2), some(6, 8)]
  const expected = run(['openvino', 'LSTMCell', 4], inputs, 2, { hidden_size: 2 })
  for (const attributes of [{}, { weights_format: 'ifco' }, { weights_format: 'iofc', input_forget: true }]) {
    run(['openvino', 'LSTMCell', 1], inputs, 2, { hidden_size: 2, ...attributes }).forEach((state, i) =>
      expect(state.data).toEqual(expected[i].data)
    )
  }
})

test('GRUCell-3 has four biases where the reset gate comes after the recurrence', () => {
  const weights = [some(1, 2, 3), some(2, 2, 2), some(3, 6, 3), some(4, 6, 2)]
  const attributes = { hidden_size: 2, linear_before_reset: true }
  expect(errorOf(() => run(['openvino', 'GRUCell', 3], [...weights, some(5, 6)], 1, attributes)).code).toBe(
    'dims-mismatch'
  )
  const [cell] = run(['openvino', 'GRUCell', 3], [...weights, some(5, 8)], 1, attributes)
  const bias = some(5, 8).data as Float32Array
  const onnx = run(
    ['onnx', 'GRU', 14],
    [
      reshaped(weights[0], [1, 2, 3]),
      reshaped(weights[2], [1, 6, 3]),
      reshaped(weights[3], [1, 6, 2]),
      f32([1, 12], [...bias.slice(0, 6), 0, 0, 0, 0, ...bias.slice(6)]),
      undefined,
      reshaped(weights[1], [1, 2, 2])
    ],
    2,
    { hidden_size: 2, linear_before_reset: 1 }
  )
  close(cell, onnx[1].data as Float32Array)
})

test('biases of cells may be left out, those of sequences and of RNNCell not', () => {
  expect(
    run(['openvino', 'GRUCell', 3], [some(1, 2, 3), some(2, 2, 2), some(3, 6, 3), some(4, 6, 2)], 1, {
      hidden_size: 2
    })[0].dims
  ).toEqual([2, 2])
  expect(
    errorOf(() =>
      run(['openvino', 'RNNCell', 3], [some(1, 2, 3), some(2, 2, 2), some(3, 2, 3), some(4, 2, 2)], 1, {
        hidden_size: 2
      })
    ).code
  ).toBe('wrong-input-count')
})

test('the misspelt default direction of GRU-1 is forward', () => {
  const inputs = onnxInputs(NETS[1], 1)
  expect(run(['onnx', 'GRU', 1], inputs, 2, { hidden_size: HIDDEN })[0].data).toEqual(
    run(['onnx', 'GRU', 7], inputs, 2, { hidden_size: HIDDEN })[0].data
  )
})

test('a batch of any size without steps takes no memory for it', () => {
  const x = new Tensor('float32', new Float32Array(0), [0, 2 ** 40, 3])
  expect(
    errorOf(() => run(['onnx', 'RNN', 14], [x, some(1, 1, 2, 3), some(2, 1, 2, 2)], 2, { hidden_size: 2 })).code
  ).toBe('limit-exceeded')
})

test.each(NETS)(
  '$kind takes no steps that no sequence takes, and none of a state without elements',
  ({ kind, gates }) => {
    const none = (...dims: number[]): Tensor => new Tensor('float32', new Float32Array(0), dims)
    const [steps, of] = [2 ** 40, { hidden_size: 0 }]
    const inputs = [none(steps, 1, 0), none(1, 0, 0), none(1, 0, 0)]
    expect(run(['onnx', kind, 14], inputs, 1, of)[0].dims).toEqual([steps, 1, 1, 0])
    // Nobody reads the states of all steps, which memory does not hold.
    const weights = [some(1, 1, gates, 0), some(2, 1, gates, 1), undefined, ints(0, 0)]
    for (const direction of ['forward', 'reverse']) {
      const attributes = { hidden_size: 1, direction }
      const last = runOp(['onnx', kind, 14], [none(steps, 2, 0), ...weights], {
        outputs: 2,
        unwanted: [0],
        attributes
      })[1]
      expect(last).toEqual(f32([1, 2, 1], [0, 0]))
    }
  }
)
