import { beforeAll, expect, test } from 'vitest'
import { wasm } from '../../src/wasm/wasm.ts'
import { testCases } from './cases.ts'
import { describeData } from './data.ts'

// Asked for when the first kernel is: this file is a process of its own.
beforeAll(() => {
  process.env.NODEWISE_KERNELS = 'ts'
})

describeData('by the kernels in TypeScript alone', () => {
  test('there are no others', () => expect(wasm()).toBeUndefined())
  testCases('gather')
  testCases('onnx-node', name => /gather|embed|scatter|string|loop|scan|sequence/.test(name))
  testCases('openvino-op', name => /^(Gather|Embedding|Scatter|Loop|TensorIterator)/.test(name))
  testCases('zoo', name => /^(bert|gather|embedding)/.test(name))
  testCases('openvino-zoo', name => /^(bert|gather|embedding)/.test(name))
})
