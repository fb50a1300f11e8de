import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { errorOf, type Kind } from '../../ops/harness.ts'
import { bits, expectEqual, noise, runAccelerated } from '../compare.ts'

const EMBED: Kind = ['onnx', 'EmbedLayerNormalization', 1, 'com.microsoft']
const QEMBED: Kind = ['onnx', 'QEmbedLayerNormalization', 1, 'com.microsoft']

const ids = (values: number[], dims: number[]): Tensor => new Tensor('int32', values, dims)
const input = ids([3, 0, 1, 1, 6, 5], [2, 3])
const segment = ids([0, 1, 1, 0, 0, 1], [2, 3])
const mask = ids([1, 0, 1, 1, 1, 1], [2, 3])
const tables = [noise([7, 33], 1, 3), noise([4, 33], 2, 3), noise([2, 33], 3, 3)]
const rows = [noise([33], 4, 2), noise([33], 5, 2)]
const none = undefined

describe.each(['heap', 'array'] as const)('embeddings in WebAssembly, operands in an %s', region => {
  test.each([
    ['of words, positions and segments', [input, segment, ...tables, ...rows, mask]],
    ['without segments and a mask', [input, none, tables[0], tables[1], none, ...rows]],
    ['of the first segment', [input, none, ...tables, ...rows]],
    ['with positions for all', [input, none, ...tables, ...rows, mask, ids([3, 0, 2], [1, 3])]],
    ['with positions of each', [input, none, ...tables, ...rows, mask, ids([3, 0, 2, 1, 1, 0], [2, 3])]]
  ])('EmbedLayerNormalization %s', (_, inputs) => {
    for (const outputs of [1, 2, 3])
      expectEqual(EMBED, inputs, { region, outputs, attributes: { epsilon: 0.01 } }, 1e-6)
  })

  test.each(['uint8', 'int8'] as const)('QEmbedLayerNormalization of %s', type => {
    const codes = [...tables, ...rows].map(({ dims }, i) => bits(type, dims, i + 1))
    const scales = codes.map((_, i) => new Tensor('float32', [0.01 + i / 100], []))
    const zeros = codes.map((_, i) => new Tensor(type, [3 * i], []))
    expectEqual(QEMBED, [input, segment, ...codes, mask, ...scales, ...zeros], { region, outputs: 2 }, 1e-6)
  })
})

test('an id outside its table is named', () => {
  const far = [ids([3, 0, 1, 1, 7, 5], [2, 3]), none, tables[0], tables[1], none, ...rows]
  expect(errorOf(() => runAccelerated(EMBED, far))).toMatchObject({
    code: 'index-out-of-range',
    details: { index: '7', position: [1, 1], size: 7 }
  })
})
