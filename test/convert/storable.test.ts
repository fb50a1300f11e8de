import { expect, test } from 'vitest'
import { Tensor } from '../../src/tensor/tensor.ts'
import { differenceInOther } from '../ops/converted.ts'

test.each(['uint1', 'uint2', 'uint3', 'uint6', 'nf4'] as const)(
  'constants of %s, which ONNX lacks, are stored in a type that holds their numbers',
  async type => {
    const codes = Array.from({ length: 6 }, (_, i) => (type === 'uint1' ? i % 2 : i % 4))
    const attributes = { destination_type: 'f32' }
    const inputs = [new Tensor(type, codes, [2, 3])]
    expect(await differenceInOther(['openvino', 'Convert', 1], inputs, { attributes, constants: [0] })).toBe(0)
  }
)
