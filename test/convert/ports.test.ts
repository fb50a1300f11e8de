import { expect, test } from 'vitest'
import { layer, load, net } from '../openvino/ir.ts'
import { inOther } from '../ops/converted.ts'

test('an IR with ports of no known rank is refused, each port by name', () => {
  const model = load(
    net(
      [
        layer(0, 'Parameter', { name: 'x', data: 'shape="..." element_type="f32"', out: ['0:FP32'] }),
        layer(1, 'ReLU', { in: ['0'], out: ['1:FP32'] }),
        layer(2, 'Result', { name: 'y', in: ['0'] })
      ],
      ['0:0>1:0', '1:1>2:0']
    )
  )
  expect(() => inOther(model)).toThrow('the rank of "x" is not known before the model runs; nor can Result "y"')
})
