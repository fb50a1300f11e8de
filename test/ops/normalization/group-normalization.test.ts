import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther, inOther, modelOfNode, typesOf } from '../converted.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota } from '../values.ts'

const list = (...values: number[]): Tensor => new Tensor('float32', values)
const x = iota([1, 4, 2])
/** Deviations of 0, 1, 2, 3 from their mean over their standard deviation. */
const group = [-1.5, -0.5, 0.5, 1.5].map(d => d / Math.sqrt(1.25))
const attributes = { epsilon: 0, num_groups: 2 }

describe('GroupNormalization', () => {
  test('version 18 scales by group, version 21 and IR by channel', () => {
    const byGroup = [...group, ...group.map(v => 2 * v + 10)]
    expectNear(runTensor(['onnx', 'GroupNormalization', 18], [x, list(1, 2), list(0, 10)], { attributes }), byGroup)
    const byChannel = [
      group[0],
      group[1],
      2 * group[2],
      2 * group[3],
      3 * group[0],
      3 * group[1],
      4 * group[2] + 1,
      4 * group[3] + 1
    ]
    expectNear(
      runTensor(['onnx', 'GroupNormalization', 21], [x, list(1, 2, 3, 4), list(0, 0, 0, 1)], { attributes }),
      byChannel
    )
    expectNear(
      runTensor(['openvino', 'GroupNormalization', 12], [x, list(1, 2, 3, 4), list(0, 0, 0, 1)], { attributes }),
      byChannel
    )
  })

  test('groups must divide the channels and the lists fit', () => {
    const odd = [iota([1, 3, 2]), list(1, 2, 3), list(1, 2, 3)]
    expect(errorOf(() => runTensor(['onnx', 'GroupNormalization', 21], odd, { attributes })).code).toBe(
      'shape-mismatch'
    )
    expect(
      errorOf(() => runTensor(['onnx', 'GroupNormalization', 21], [x, list(1, 2), list(1, 2)], { attributes })).code
    ).toBe('shape-mismatch')
    expect(
      errorOf(() =>
        runTensor(['onnx', 'GroupNormalization', 21], [x, list(1), list(1)], { attributes: { num_groups: 0 } })
      ).code
    ).toBe('unknown-attribute-value')
  })

  test('a scale tells how many channels there are', () => {
    const inputs = [fact('float32', ['n', '?', 'h']), fact('float32', [6]), fact('float32', ['?'])]
    expect(dimsOf(inferOp(['onnx', 'GroupNormalization', 21], inputs, { attributes })[0])).toEqual(['n', 6, 'h'])
  })
})

test('InstanceNormalization has a group for each channel', () => {
  const out = runTensor(['onnx', 'InstanceNormalization', 6], [iota([2, 2, 2]), list(1, 2), list(0, 5)], {
    attributes: { epsilon: 0 }
  })
  expectNear(out, [-1, 1, 3, 7, -1, 1, 3, 7])
})

test.each([20, 17, 8])('GroupNormalization of IR is said by the instances of its groups in opset %i', async opset => {
  const inputs = [iota([2, 4, 3, 2]), list(1, 2, 3, 4), list(0, 0, 0, 1)]
  const options = { attributes: { epsilon: 0.1, num_groups: 2 }, constants: [1, 2], writtenOpset: opset }
  const written = inOther(modelOfNode(['openvino', 'GroupNormalization', 12], inputs, options), opset)
  expect(typesOf(written)).toContain('InstanceNormalization')
  for (const isDynamic of [false, true])
    expect(
      await differenceInOther(['openvino', 'GroupNormalization', 12], inputs, { ...options, isDynamic })
    ).toBeLessThan(1e-5)
})
