import { expect, test } from 'vitest'
import type { Value } from '../../../src/tensor/tensor.ts'
import { errorOf, fact, inferOp, runOp } from '../harness.ts'
import { iota, valuesOf } from '../values.ts'

test('Identity gives its input, sequences since 14 and optionals since 16', () => {
  const sequence: Value = { type: 'sequence', values: [iota([2])] }
  const optional: Value = { type: 'optional', value: iota([2]) }
  expect(runOp(['onnx', 'Identity', 1], [iota([2], 'complex128')])[0]).toEqual(iota([2], 'complex128'))
  expect(runOp(['onnx', 'Identity', 14], [sequence])[0]).toEqual(sequence)
  expect(runOp(['onnx', 'Identity', 16], [optional])[0]).toEqual(optional)
  expect(runOp(['openvino', 'Identity', 16], [iota([2], 'nf4')])[0]).toEqual(iota([2], 'nf4'))
  expect(errorOf(() => runOp(['onnx', 'Identity', 13], [sequence])).code).toBe('type-not-allowed')
})

test('Identity keeps what is known of a value', () => {
  const [dims] = inferOp(['onnx', 'Shape', 15], [fact('float32', ['n', 3])])
  expect(valuesOf(inferOp(['onnx', 'Identity', 16], [dims])[0])).toEqual(['n', 3n])
})

test('SampleOp of com.microsoft is Identity', () => {
  expect(runOp(['onnx', 'SampleOp', 1, 'com.microsoft'], [iota([2, 3])])[0]).toEqual(iota([2, 3]))
})
