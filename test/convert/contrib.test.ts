import { describe, expect, test } from 'vitest'
import { registryWith } from '../../src/built-in.ts'
import { inDialect } from '../../src/convert/dialect.ts'
import { InferenceSession, load, type Model, Tensor } from '../../src/index.ts'
import { ALL_CONVERSIONS } from '../../src/ops/conversions.ts'

const read = (graph: string): Promise<Model> => {
  const text = `< ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1] > ${graph}`
  return load(new TextEncoder().encode(text), { name: 'm.onnxtxt' })
}

const asIr = (model: Model): Model => inDialect(model, 'openvino', registryWith(), ALL_CONVERSIONS)

/** Bytes of codes, `count` of them, of which none is like its neighbour. */
const bytes = (count: number): string => Array.from({ length: count }, (_, i) => (i * 37 + 11) % 256).join(', ')

describe('operators of com.microsoft as IR', () => {
  test.each([
    [4, 'uint4', 32, 2],
    [2, 'uint2', 32, 2],
    [8, 'uint8', 32, 2],
    [4, 'uint4', 24, 2]
  ])('weights in codes of %i bits stay in them (%s, %i columns)', async (bits, type, k, blocks) => {
    const size = 16
    const width = (size * bits) / 8
    const zeros = Math.ceil((blocks * bits) / 8)
    const model = await read(`g (float[1, ${k}] a) => (float[1, 3] y)
      <uint8[3, ${blocks}, ${width}] b = {${bytes(3 * blocks * width)}},
       float[3, ${blocks}] s = {1, 2, 0.5, 4, 0.25, 1}, uint8[3, ${zeros}] z = {${bytes(3 * zeros)}}> {
        y = com.microsoft.MatMulNBits <K = ${k}, N = 3, bits = ${bits}, block_size = ${size}> (a, b, s, z)
      }`)
    const ir = asIr(model)
    const codes = ir.graph.nodes.find(({ constant }) => constant?.type === type && constant.dims[2] === size)
    expect(codes?.constant?.byteLength).toBe(3 * blocks * width)
    const a = new Tensor(
      'float32',
      Array.from({ length: k }, (_, i) => (i % 5) - 2),
      [1, k]
    )
    const [expected, { y }] = await Promise.all([model, ir].map(each => new InferenceSession(each).run({ a })))
    expect(y.data).toEqual(expected.y.data)
  })

  test('a decoder of grouped heads writes each entry of a batch behind its own past', async () => {
    const model = await read(`g (float[2, 1, 8] q, float[2, 1, 4] k, float[2, 1, 4] v, float[2, 1, 3, 4] pk,
        float[2, 1, 3, 4] pv, int32[2] lengths) => (float[2, 1, 8] y, float[2, 1, 3, 4] nk, float[2, 1, 3, 4] nv)
      <int32 total = {3}> {
        y, nk, nv = com.microsoft.GroupQueryAttention <num_heads = 2, kv_num_heads = 1>
          (q, k, v, pk, pv, lengths, total)
      }`)
    const numbers = (dims: number[], from: number): Tensor =>
      new Tensor(
        'float32',
        Array.from({ length: dims.reduce((a, b) => a * b) }, (_, i) => Math.sin(from + i)),
        dims
      )
    const feeds = {
      q: numbers([2, 1, 8], 1),
      k: numbers([2, 1, 4], 2),
      v: numbers([2, 1, 4], 3),
      pk: numbers([2, 1, 3, 4], 4),
      pv: numbers([2, 1, 3, 4], 5),
      lengths: new Tensor('int32', [2, 1], [2])
    }
    const [expected, found] = await Promise.all([model, asIr(model)].map(each => new InferenceSession(each).run(feeds)))
    for (const name of ['y', 'nk', 'nv'])
      [...(found[name].data as Float32Array)].forEach((value, i) => {
        expect(value).toBeCloseTo((expected[name].data as Float32Array)[i], 5)
      })
    // Entry 1 has one row of the past, then the fresh one, then none.
    expect([...(found.nk.data as Float32Array)].slice(16, 24)).toEqual([...feeds.k.data.slice(4), 0, 0, 0, 0])
  })

  test('what cannot be said is refused with its reason', async () => {
    const model = await read('g (int32[2] x) => (uint32[2] y) { y = com.microsoft.MurmurHash3 (x) }')
    expect(() => asIr(model)).toThrow(/hashes are mixed/)
  })
})
