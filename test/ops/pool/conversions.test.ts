import { describe, expect, test } from 'vitest'
import { differenceInOther, inOther, modelOfNode } from '../converted.ts'
import { randomFloats } from '../random.ts'

const x = randomFloats(1, [1, 2, 6, 5])

describe('AvgPool of IR in ONNX', () => {
  const attributes = { kernel: '3,2', strides: '2,1', pads_begin: '1,0', pads_end: '1,1', 'exclude-pad': true }

  test.each([11, 18, 19])('opset %i', async opset => {
    const options = { attributes, writtenOpset: opset }
    expect(await differenceInOther(['openvino', 'AvgPool', 1], [x], options)).toBeLessThan(1e-6)
  })

  test('windows with dilations need opset 19', async () => {
    const dilated = { ...attributes, dilations: '2,1' }
    const options = { attributes: dilated, writtenOpset: 19 }
    expect(await differenceInOther(['openvino', 'AvgPool', 16], [x], options)).toBeLessThan(1e-6)
    const model = modelOfNode(['openvino', 'AvgPool', 16], [x], { attributes: dilated })
    expect(() => inOther(model, 18)).toThrow('AveragePool-11 has no attribute "dilations"')
  })
})

test('dilations of 1 are not written', () => {
  const attributes = { kernel: '2,2', strides: '2,2', dilations: '1,1', pads_begin: '0,0', pads_end: '0,0' }
  const { nodes } = inOther(modelOfNode(['openvino', 'MaxPool', 8], [x], { attributes, outputs: 2 })).graph
  expect(nodes.find(({ type }) => type === 'MaxPool')?.attributes.has('dilations')).toBe(false)
})
