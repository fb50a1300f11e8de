import { expect, test } from 'vitest'
import { convert, InferenceSession, Tensor } from '../../../src/index.ts'
import { modelOfNode } from '../converted.ts'

const shape = new Tensor('int64', [40n, 25n], [2])

test.each(['f32', 'i32'] as const)('RandomUniform of %s in ONNX draws within its limits', async output_type => {
  const type = ({ f32: 'float32', i32: 'int32' } as const)[output_type]
  const limits = [-3, 5].map(limit => new Tensor(type, [limit], []))
  const attributes = { output_type, global_seed: 0, op_seed: 0, alignment: 'tensorflow' }
  for (const constants of [[0], [0, 1, 2]]) {
    const model = modelOfNode(['openvino', 'RandomUniform', 8], [shape, ...limits], { attributes, constants })
    const { model: made } = convert(model, { dialect: 'onnx' })
    const feeds = constants.length > 1 ? {} : { in1: limits[0], in2: limits[1] }
    const { [made.graph.outputs[0].name]: y } = await new InferenceSession(made).run(feeds)
    expect([y.type, y.dims]).toEqual([type, [40, 25]])
    const numbers = [...(y.data as Float32Array)]
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(-3)
    expect(Math.min(...numbers)).toBeLessThan(-2.5)
    expect(Math.max(...numbers)).toBeLessThan(5)
    expect(Math.max(...numbers)).toBeGreaterThan(3.5)
  }
})

test('numbers that follow from a seed are refused: ONNX does not say which they are', () => {
  const limits = [0, 1].map(limit => new Tensor('float32', [limit], []))
  const attributes = { output_type: 'f32', global_seed: 1, op_seed: 0, alignment: 'tensorflow' }
  const model = modelOfNode(['openvino', 'RandomUniform', 8], [shape, ...limits], { attributes, constants: [0, 1, 2] })
  expect(() => convert(model, { dialect: 'onnx' })).toThrow(expect.objectContaining({ code: 'unsupported-op' }))
})

test('Multinomial of weights in ONNX never draws what has none', async () => {
  const weights = new Tensor('float32', [0, 1, 0, 3], [1, 4])
  const attributes = { convert_type: 'i64', with_replacement: true, log_probs: false, global_seed: 0, op_seed: 0 }
  const samples = new Tensor('int64', [200n], [])
  const model = modelOfNode(['openvino', 'Multinomial', 13], [weights, samples], { attributes, constants: [1] })
  const { model: made } = convert(model, { dialect: 'onnx' })
  const { [made.graph.outputs[0].name]: y } = await new InferenceSession(made).run({ in0: weights })
  const counts = [0, 0, 0, 0]
  for (const drawn of y.data as BigInt64Array) counts[Number(drawn)]++
  expect(counts[0] + counts[2]).toBe(0)
  expect(counts[3]).toBeGreaterThan(counts[1])
})
