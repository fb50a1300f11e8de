import { describe, test } from 'vitest'
import type { Kind } from '../../ops/harness.ts'
import { codes, one } from '../bytes.ts'
import { expectEqual } from '../compare.ts'

const kindOf = (name: string): Kind => ['onnx', name, 1, 'com.microsoft']

describe.each(['uint8', 'int8'] as const)(
  'activations of codes of %s in WebAssembly have the codes of the reference',
  type => {
    test.each([
      ['QLinearSigmoid', {}],
      ['QLinearLeakyRelu', { alpha: 0.1 }]
    ])('%s', (name, attributes) => {
      for (const dims of [[1030], [3, 5, 7, 11], [70001]])
        for (const region of ['heap', 'array'] as const) {
          const inputs = [
            codes(type, dims, 1),
            one('float32', 0.04),
            one(type, 9),
            one('float32', 1 / 256),
            one(type, -3 & 127)
          ]
          expectEqual(kindOf(name), inputs, { region, attributes }, 0)
        }
    })
  }
)
