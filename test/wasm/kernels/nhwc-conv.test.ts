import { describe, expect, test } from 'vitest'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const KIND = ['onnx', 'NhwcConv', 1, 'com.microsoft'] as const

describe.each(['heap', 'array'] as const)('NhwcConv in WebAssembly, operands in an %s', region => {
  test.each([
    ['one tap', [2, 7, 9, 40], [13, 1, 1, 40], {}],
    ['three by three', [2, 9, 11, 5], [7, 3, 3, 5], { pads: [1, 1, 1, 1] }],
    ['three by three, by transforms', [1, 24, 25, 32], [48, 3, 3, 32], { pads: [1, 1, 1, 1] }],
    ['strides and dilations', [1, 17, 22, 6], [8, 3, 5, 6], { strides: [2, 1], dilations: [2, 2] }],
    ['groups', [2, 10, 13, 12], [9, 3, 3, 4], { pads: [1, 1, 1, 1], group: 3 }],
    ['depthwise', [2, 15, 18, 24], [24, 3, 3, 1], { pads: [1, 1, 1, 1], group: 24 }],
    ['to one channel', [2, 19, 23, 37], [1, 3, 3, 37], { pads: [1, 1, 1, 1] }],
    ['few positions', [1, 3, 3, 20], [8, 2, 2, 20], {}],
    ['one axis', [2, 50, 20], [11, 5, 20], { pads: [2, 2], strides: [2] }]
  ])('equals the reference: %s', (_, x, w, attributes) => {
    const inputs = [noise(x, 1), noise(w, 2, 0.3), noise([w[0]], 3)]
    for (const constants of [{ w: 1 }, {}])
      for (const threads of [1, 2]) expectEqual(KIND, inputs, { region, attributes, constants, threads }, 5e-6)
    expectEqual(KIND, inputs.slice(0, 2), { region, attributes, constants: { w: 1 } }, 5e-6)
  })
})

test('NhwcConv of few numbers is left to the reference', () => {
  expect(() => runAccelerated(KIND, [noise([1, 2, 2, 2], 1), noise([1, 2, 2, 2], 2)])).toThrow(
    'no accelerated kernel is selected'
  )
})
