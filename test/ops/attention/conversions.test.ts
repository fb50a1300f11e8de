import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther } from '../converted.ts'
import { randomFloats } from '../random.ts'

const [query, key, value] = [4, 5, 6].map((seed, i) => randomFloats(seed, [2, 3, i === 0 ? 4 : 5, 8]))

test.each([true, false])('attention of IR in ONNX, causal or not, with sizes known or not', async causal => {
  for (const isDynamic of [false, true])
    expect(
      await differenceInOther(['openvino', 'ScaledDotProductAttention', 13], [query, key, value], {
        attributes: { causal },
        isDynamic
      })
    ).toBeLessThan(1e-6)
})

test('a mask of one column hides nothing in IR either', async () => {
  const [input, weights] = [randomFloats(1, [2, 3, 4]), randomFloats(2, [4, 12])]
  for (const rows of [1, 2]) {
    const mask = new Tensor('int32', new Int32Array(rows), [rows, 1])
    expect(
      await differenceInOther(['onnx', 'Attention', 1, 'com.microsoft'], [input, weights, undefined, mask], {
        attributes: { num_heads: 2 }
      })
    ).toBeLessThan(1e-6)
  }
})
