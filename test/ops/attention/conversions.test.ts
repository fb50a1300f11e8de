import { expect, test } from 'vitest'
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
