import { expect, test } from 'vitest'
import { differenceInOther } from '../converted.ts'
import { randomFloats } from '../random.ts'

const [x, skip, scale, shift, bias] = [[2, 3, 8], [2, 3, 8], [8], [8], [8]].map((dims, i) => randomFloats(i + 1, dims))

test('SkipLayerNormalization and its form without a mean in IR, the sum included', async () => {
  const run = (type: string, inputs: Parameters<typeof differenceInOther>[1], outputs: number): Promise<number> =>
    differenceInOther(['onnx', type, 1, 'com.microsoft'], inputs, {
      outputs,
      unwanted: [1, 2],
      attributes: { epsilon: 1e-5 }
    })
  expect(await run('SkipLayerNormalization', [x, skip, scale, shift, bias], 1)).toBeLessThan(1e-5)
  expect(await run('SkipSimplifiedLayerNormalization', [x, skip, scale, bias], 1)).toBeLessThan(1e-5)
  expect(await run('SkipSimplifiedLayerNormalization', [x, skip, scale], 1)).toBeLessThan(1e-5)
})

test('RMSNormalization in IR', async () => {
  for (const axis of [-1, 1]) {
    const own = axis === 1 ? randomFloats(3, [3, 8]) : scale
    expect(await differenceInOther(['onnx', 'RMSNormalization', 23], [x, own], { attributes: { axis } })).toBeLessThan(
      1e-5
    )
  }
})
