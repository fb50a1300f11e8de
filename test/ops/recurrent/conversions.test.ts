import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther, inOther, modelOfNode } from '../converted.ts'
import type { Kind } from '../harness.ts'
import { randomFloats as floats } from '../random.ts'

const lengths = new Tensor('int32', [3, 1], [2])
/** 2 sequences of 3 steps, input size 2, hidden size 3. */
const irInputs = (gates: number, biases: number, directions: number, states: number): Tensor[] => [
  floats(1, [2, 3, 2]),
  ...Array.from({ length: states }, (_, i) => floats(2 + i, [2, directions, 3])),
  lengths,
  floats(5, [directions, gates * 3, 2]),
  floats(6, [directions, gates * 3, 3]),
  floats(7, [directions, biases * 3])
]
const onnxInputs = (gates: number, directions: number, batchFirst = false): (Tensor | undefined)[] => [
  floats(1, batchFirst ? [2, 3, 2] : [3, 2, 2]),
  floats(5, [directions, gates * 3, 2]),
  floats(6, [directions, gates * 3, 3]),
  floats(7, [directions, 2 * gates * 3]),
  lengths,
  floats(2, batchFirst ? [2, directions, 3] : [directions, 2, 3])
]
const sequence = (type: string): Kind => ['openvino', type, 5]

describe('recurrent layers of IR in ONNX', () => {
  const attributes = { direction: 'bidirectional', hidden_size: 3 }
  test.each([
    ['LSTMSequence', 4, 4, 2],
    ['GRUSequence', 3, 3, 1],
    ['RNNSequence', 1, 1, 1]
  ] as const)('%s has steps first, other gates and two biases', async (type, gates, biases, states) => {
    const inputs = irInputs(gates, biases, 2, states)
    expect(await differenceInOther(sequence(type), inputs, { attributes, outputs: 1 + states })).toBeLessThan(1e-6)
  })

  test.each([12, 17])(
    'gates are put in order by Splits of opset %i, which are told no number of parts',
    async opset => {
      const options = { attributes, outputs: 3, writtenOpset: opset }
      expect(await differenceInOther(sequence('LSTMSequence'), irInputs(4, 4, 2, 2), options)).toBeLessThan(1e-6)
    }
  )

  test('GRUSequence keeps the bias of the reset gate apart', async () => {
    const options = { attributes: { ...attributes, linear_before_reset: true }, outputs: 2, isDynamic: true }
    expect(await differenceInOther(sequence('GRUSequence'), irInputs(3, 4, 2, 1), options)).toBeLessThan(1e-6)
  })

  test('LSTMCell is one step, with functions and a bound', async () => {
    const inputs = [[2, 2], [2, 3], [2, 3], [12, 2], [12, 3], [12]].map((dims, i) => floats(i, dims))
    const cell = { hidden_size: 3, activations: 'tanh,sigmoid,relu', clip: 0.2 }
    expect(await differenceInOther(['openvino', 'LSTMCell', 1], inputs, { attributes: cell, outputs: 2 })).toBeLessThan(
      1e-6
    )
  })
})

describe('recurrent layers of ONNX in IR', () => {
  const attributes = { direction: 'bidirectional', hidden_size: 3 }
  test.each([
    ['LSTM', 4, 3],
    ['GRU', 3, 2],
    ['RNN', 1, 2]
  ] as const)('%s is a sequence, states of zeros written out', async (type, gates, outputs) => {
    for (const inputs of [onnxInputs(gates, 2), onnxInputs(gates, 2).slice(0, 3)])
      expect(await differenceInOther(['onnx', type, 21], inputs, { attributes, outputs })).toBeLessThan(1e-6)
  })

  test('GRU adds the biases of the gates but for one', async () => {
    const options = { attributes: { hidden_size: 3, linear_before_reset: 1, direction: 'reverse' }, outputs: 2 }
    expect(await differenceInOther(['onnx', 'GRU', 21], onnxInputs(3, 1), options)).toBeLessThan(1e-6)
    expect(await differenceInOther(['onnx', 'GRU', 21], onnxInputs(3, 1).slice(0, 3), options)).toBeLessThan(1e-6)
  })

  test('layout 1 needs no transposition of steps', async () => {
    const options = { attributes: { ...attributes, layout: 1 }, outputs: 2, isDynamic: true }
    expect(await differenceInOther(['onnx', 'GRU', 21], onnxInputs(3, 2, true), options)).toBeLessThan(1e-6)
  })

  test('peepholes, coupled gates and other functions are refused by name', () => {
    const inputs = [...onnxInputs(4, 1), floats(3, [1, 2, 3]), floats(4, [1, 9])]
    const refused = (attributes: Record<string, number | string[]>, count = 7): (() => unknown) => {
      const model = modelOfNode(['onnx', 'LSTM', 21], inputs.slice(0, count), {
        attributes: { hidden_size: 3, ...attributes }
      })
      return () => inOther(model)
    }
    expect(refused({}, 8)).toThrow('peepholes')
    expect(refused({ input_forget: 1 })).toThrow('input_forget')
    expect(refused({ activations: ['Softsign', 'Tanh', 'Tanh'] })).toThrow('softsign')
  })
})
