import { describe, expect, test } from 'vitest'
import { InferenceSession, parseModel, Tensor } from '../../src/index.ts'
import { randomSource } from '../../src/runtime/random.ts'
import { heapStats } from '../../src/wasm/heap.ts'
import { floats, int64s, type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'

const random = randomSource(7)()
const numbers = (count: number): number[] => {
  const list = new Array<number>(count)
  for (let i = 0; i < count; i++) list[i] = random() * 4 - 2
  return list
}

const byteWeights = (count: number): number[] => numbers(count).map(x => Math.round(50 * x))

/** Products, sums, norms, codes, movements, rows that are looked up, and outputs of all kinds. */
const parts: ModelParts = {
  inputs: [port('x', 'float', ['b', 16]), port('rows', 'int64', ['b'])],
  outputs: ['y', 'codes', 'moved', 'same', 'table', 'small', 'scaled'].map(name => port(name, 'float')),
  initializers: [
    floats('table', [5, 16], numbers(80)),
    floats('w', [16, 24], numbers(384)),
    floats('bias', [24], numbers(24)),
    floats('scale', [24], numbers(24)),
    floats('step', [], [0.02]),
    { name: 'v', dims: [24, 8], dataType: 3, int32Data: byteWeights(192) },
    int64s('halves', [3], [0, 2, 12]),
    int64s('parts', [3], [0, 2, 8])
  ],
  nodes: [
    node('Gather', ['table', 'rows'], ['looked']),
    node('Add', ['x', 'looked'], ['sum']),
    node('Gemm', ['sum', 'w', 'bias'], ['product']),
    node('LayerNormalization', ['product', 'scale', 'bias'], ['norm']),
    node('DynamicQuantizeLinear', ['norm'], ['q', 'qScale', 'qZero']),
    node('DequantizeLinear', ['q', 'qScale', 'qZero'], ['codes']),
    node('MatMulInteger', ['q', 'v', 'qZero'], ['sums']),
    node('Cast', ['sums'], ['sumsOfFloats'], { to: 1 }),
    node('Mul', ['sumsOfFloats', 'qScale'], ['scaled']),
    node('Reshape', ['codes', 'halves'], ['parted']),
    node('Transpose', ['parted'], ['moved'], { perm: [0, 2, 1] }),
    node('Softmax', ['norm'], ['y']),
    node('Reshape', ['x', 'parts'], ['same']),
    node('ReduceMean', ['norm'], ['small'], { axes: [1] })
  ]
}
const feedsOf = (b: number): Record<string, Tensor> => ({
  x: new Tensor('float32', numbers(16 * b), [b, 16]),
  rows: new Tensor(
    'int64',
    Array.from({ length: b }, () => Math.floor(random() * 5)),
    [b]
  )
})
const session = (model = parts): Promise<InferenceSession> => InferenceSession.create(onnxBytes(model), { threads: 1 })
const contents = (outputs: Readonly<Record<string, Tensor>>): unknown[] =>
  Object.entries(outputs).map(([name, { type, dims, data }]) => [name, type, [...dims], (data as Float32Array).slice()])

/**
 * Runs with so many rows each, which give what a session gives that has not run before.
 * @returns blocks of the heap after each
 */
async function blocksAfter(of: InferenceSession, sizes: readonly number[]): Promise<number[]> {
  const blocks: number[] = []
  for (const b of sizes) {
    const feeds = feedsOf(b)
    const fresh = await session()
    expect(contents(await of.run(feeds))).toEqual(contents(await fresh.run(feeds)))
    fresh.dispose()
    blocks.push(heapStats().blocks)
  }
  return blocks
}

describe('from the third run in a row with inputs of the same types and dims', () => {
  test('kernels are called as they were recorded, and give what they gave', async () => {
    const of = await session()
    const before = await blocksAfter(of, [6, 6, 6, 6, 6, 4, 6, 4, 4, 4, 4])
    expect(before[2]).toBeGreaterThan(before[1])
    expect(before[4]).toBe(before[2])
    of.dispose()
    expect(heapStats().blocks).toBeLessThan(before[1] + 1)
  })

  test('but not where a text is an output', async () => {
    const texts = { name: 'texts', dims: [2], dataType: 8, stringData: ['a', 'b'].map(text => Buffer.from(text)) }
    const of = await session({
      inputs: [port('x', 'float', ['n'])],
      outputs: [port('y', 'float'), port('same', 'string')],
      initializers: [texts],
      nodes: [node('Neg', ['x'], ['y']), node('Identity', ['texts'], ['same'])]
    })
    for (let i = 0; i < 5; i++) {
      const { y, same } = await of.run({ x: new Tensor('float32', [i, 1]) })
      expect([...y.data, ...same.data]).toEqual([-i, -1, 'a', 'b'])
    }
    of.dispose()
  })

  test('and of dims that come in turn, once each has come often', async () => {
    const of = await session()
    const blocks = await blocksAfter(of, [...new Array<number[]>(10).fill([6, 4]).flat(), 6, 6, 4, 4])
    expect(blocks[12]).toBe(blocks[4])
    expect(blocks[13]).toBeGreaterThan(blocks[12])
    expect(blocks[14]).toBeGreaterThan(blocks[13])
    for (const count of blocks.slice(15)) expect(count).toBe(blocks[14])
    of.dispose()
    expect(heapStats().blocks).toBeLessThan(blocks[4] + 1)
  })

  test('but of large values only those of one signature at once, where it follows itself', async () => {
    const of = await session()
    const recorded: number[] = []
    const { used } = heapStats()
    for (const b of [...new Array<number[]>(9).fill([4000, 4001]).flat(), 4000, 4000, 4001, 4001, 4000, 4001]) {
      await of.run(feedsOf(b))
      recorded.push(heapStats().used - used)
    }
    // Constants take some kilobytes, and a recording more than a megabyte.
    const large = recorded.map(bytes => bytes > 1 << 20)
    expect(large).toEqual(large.map((_, i) => i >= 19))
    for (const bytes of recorded.slice(20)) expect(bytes).toBeLessThan(1.1 * recorded[19])
    of.dispose()
  })

  test.each([
    [
      'a zero point that a node computes',
      `<ir_version: 8, opset_import: ["" : 17]>
       quantized (float[1,4,16,16] x) => (int32[1,8,16,16] y) <int8[8,4,3,3] w = {${byteWeights(288).join()}}> {
         q, s, z = DynamicQuantizeLinear (x)
         y = ConvInteger <pads = [1,1,1,1]> (q, w, z)
       }`,
      { x: [1, 4, 16, 16] }
    ],
    [
      'keys that are joined with those of the past',
      `<ir_version: 10, opset_import: ["" : 23]>
       attention (float[2,3,4,8] x, float[2,3,12,8] past) => (float y, float keys, float values) {
         y, keys, values = Attention (x, x, x, , past, past)
       }`,
      { x: [2, 3, 4, 8], past: [2, 3, 12, 8] }
    ],
    [
      'the parts of a row, the whole of which nobody reads any more',
      `<ir_version: 8, opset_import: ["" : 17]>
       parts (float[1,64] x) => (float y, float b) <float[64,96] w = {${numbers(6144).join()}}> {
         all = MatMul (x, w)
         a, b, c = Split <axis = 1> (all)
         n = Neg (a)
         s = Softmax (n)
         t = Transpose <perm = [1,0]> (s)
         u = MatMul (c, t)
         y = Add (u, b)
       }`,
      { x: [1, 64] }
    ],
    [
      'what products of one row have made together',
      `<ir_version: 8, opset_import: ["" : 17]>
       joined (float[1,64] x) => (float y, float k)
       <float[64,32] w = {${numbers(2048).join()}}, float[64,16] u = {${numbers(1024).join()}},
        float[64,16] m = {${numbers(1024).join()}}> {
         n = Exp (x)
         q = MatMul (n, w)
         k = MatMul (n, u)
         v = MatMul (n, m)
         s = Softmax (q)
         kv = Concat <axis = 1> (k, v)
         y = Mul (s, kv)
       }`,
      { x: [1, 64] }
    ],
    [
      'what products of several rows have made',
      `<ir_version: 8, opset_import: ["" : 17]>
       joined (float[3,64] x) => (float y, float k)
       <float[64,32] w = {${numbers(2048).join()}}, float[64,16] u = {${numbers(1024).join()}}> {
         n = Exp (x)
         q = MatMul (n, w)
         k = MatMul (n, u)
         s = Softmax (q)
         y = Concat <axis = 1> (s, k)
       }`,
      { x: [3, 64] }
    ]
  ])('calls read %s anew', async (_, text, dimsOf) => {
    const model = parseModel(text)
    const of = new InferenceSession(model, { threads: 1 })
    for (let run = 0; run < 6; run++) {
      const feeds = Object.fromEntries(
        Object.entries(dimsOf).map(([name, dims]) => {
          const count = dims.reduce((product, dim) => product * dim)
          return [name, new Tensor('float32', numbers(count), dims)]
        })
      )
      expect(contents(await of.run(feeds))).toEqual(contents(await new InferenceSession(model).run(feeds)))
    }
  })

  test.each([1, 2, 3])('products and convolutions that %i threads share give what they gave', async threads => {
    const width = 256
    const layer = (i: number): object[] => [
      node('MatMul', [`x${i}`, 'w'], [`m${i}`]),
      node('Reshape', [`m${i}`, 'image'], [`i${i}`]),
      node('Conv', [`i${i}`, 'taps'], [`c${i}`], { pads: [1, 1, 1, 1] }),
      node('Reshape', [`c${i}`, 'matrix'], [`r${i}`]),
      node('Tanh', [`r${i}`], [`t${i}`]),
      node('Concat', [`t${i}`, `x${i}`], [`j${i}`], { axis: 0 }),
      node('Slice', [`j${i}`, 'from', 'to'], [`x${i + 1}`])
    ]
    const model: ModelParts = {
      inputs: [port('x0', 'float', [width, width])],
      outputs: [port('x3', 'float'), port('t1', 'float')],
      initializers: [
        floats('w', [width, width], numbers(width ** 2)),
        floats('taps', [16, 16, 3, 3], numbers(2304)),
        int64s('image', [4], [1, 16, 64, 64]),
        int64s('matrix', [2], [width, width]),
        int64s('from', [1], [100]),
        int64s('to', [1], [100 + width])
      ],
      nodes: [0, 1, 2].flatMap(layer)
    }
    const bytes = onnxBytes(model)
    const make = (): Promise<InferenceSession> => InferenceSession.create(bytes, { threads })
    /** Blocks that a session holds after so many runs, each of which gives what the first run of one does. */
    const heldAfter = async (runs: number): Promise<number> => {
      const of = await make()
      for (let i = 0; i < runs; i++) {
        const feeds = { x0: new Tensor('float32', numbers(width ** 2), [width, width]) }
        const fresh = await make()
        expect(contents(await of.run(feeds))).toEqual(contents(await fresh.run(feeds)))
        fresh.dispose()
      }
      const { blocks } = heapStats()
      of.dispose()
      return blocks - heapStats().blocks
    }
    const held = [await heldAfter(2), await heldAfter(3), await heldAfter(7)]
    expect(held[1]).toBeGreaterThan(held[0])
    expect(held[2]).toBe(held[1])
  })

  test('outputs are the caller’s own', async () => {
    const of = await session()
    const feeds = feedsOf(3)
    const first = contents(await of.run(feeds))
    for (let i = 0; i < 5; i++) {
      const outputs = await of.run(feeds)
      expect(contents(outputs)).toEqual(first)
      for (const { data } of Object.values(outputs)) (data as Float32Array).fill(9)
    }
    expect(contents(await of.run(feeds))).toEqual(first)
  })

  test('an operand out of range fails with its place, and later runs go on', async () => {
    const of = await session()
    const feeds = feedsOf(3)
    const first = contents(await of.run(feeds))
    const wrong = { ...feeds, rows: new Tensor('int64', [0, 7, 1], [3]) }
    const failure = await (await session()).run(wrong).catch((error: unknown) => String(error))
    for (let i = 0; i < 3; i++) await of.run(feeds)
    await expect(of.run(wrong).catch((error: unknown) => String(error))).resolves.toBe(failure)
    expect(contents(await of.run(feeds))).toEqual(first)
  })

  test('runs at once, runs that are watched, and runs that write into the caller’s tensors give the same', async () => {
    const of = await session()
    const all = [1, 2, 3, 4, 5].map(() => feedsOf(3))
    const alone: unknown[] = []
    for (const feeds of all) alone.push(contents(await of.run(feeds)))
    expect((await Promise.all(all.map(feeds => of.run(feeds)))).map(contents)).toEqual(alone)
    const y = new Tensor('float32', new Float32Array(72), [3, 24])
    for (const [i, feeds] of all.entries()) {
      const fetched = await of.run(feeds, { y })
      expect(fetched.y).toBe(y)
      expect(contents(fetched)).toEqual((alone[i] as unknown[]).slice(0, 1))
      let nodes = 0
      expect(contents(await of.run(feeds, { onStep: () => nodes++ }))).toEqual(alone[i])
      expect(nodes).toBe(parts.nodes.length)
    }
  })

  test('a constant that another request packs, and that is let go of then, is read again', async () => {
    const of = await session({
      inputs: [port('x', 'float', [64, 64])],
      outputs: [port('sum', 'float'), port('product', 'float')],
      // Bytes as memory has them, which are read onto the heap.
      initializers: [
        { ...floats('w', [64, 64], []), rawData: new Uint8Array(Float32Array.from(numbers(4096)).buffer) }
      ],
      nodes: [node('Add', ['x', 'w'], ['sum']), node('MatMul', ['x', 'w'], ['product'])]
    })
    const feeds = { x: new Tensor('float32', numbers(4096), [64, 64]) }
    const first = contents(await of.run(feeds, ['sum']))
    for (let i = 0; i < 4; i++) await of.run(feeds, ['sum'])
    await of.run(feeds, ['product'])
    for (let i = 0; i < 4; i++) of.allocate('float32', [64, 64]).data.fill(i)
    for (let i = 0; i < 2; i++) expect(contents(await of.run(feeds, ['sum']))).toEqual(first)
    of.dispose()
  })

  test('a run is given up before it starts', async () => {
    const of = await session()
    const feeds = feedsOf(3)
    for (let i = 0; i < 4; i++) await of.run(feeds)
    await expect(of.run(feeds, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' })
  })

  test('dims that elements of inputs decide are those of each run', async () => {
    const of = await session({
      inputs: [port('x', 'float', [4]), port('shape', 'int64', [2]), port('low', 'float', [])],
      outputs: [port('y', 'float')],
      nodes: [node('Reshape', ['x', 'shape'], ['r']), node('Clip', ['r', 'low'], ['y'])]
    })
    for (const [dims, low] of [
      [[2, 2], 0],
      [[2, 2], 1],
      [[2, 2], 2],
      [[2, 2], 3],
      [[4, 1], 1],
      [[1, 4], 2]
    ] as const) {
      const x = new Tensor('float32', [0, 1, 2, 3], [4])
      const { y } = await of.run({
        x,
        shape: new Tensor('int64', [...dims], [2]),
        low: new Tensor('float32', [low], [])
      })
      expect(y.dims).toEqual(dims)
      expect([...(y.data as Float32Array)]).toEqual([0, 1, 2, 3].map(value => Math.max(value, low)))
    }
  })

  test('numbers that a kernel is told, such as bounds and quantizations, are those of each run', async () => {
    const of = await session({
      inputs: [port('x', 'float', [200]), port('low', 'float', []), port('zero', 'uint8', [])],
      outputs: [port('y', 'float'), port('q', 'uint8')],
      initializers: [floats('step', [], [0.5])],
      nodes: [node('Clip', ['x', 'low'], ['y']), node('QuantizeLinear', ['y', 'step', 'zero'], ['q'])]
    })
    for (let i = 0; i < 6; i++) {
      const values = numbers(200)
      const [low, zero] = [i / 8 - 1, 3 * i]
      const { y, q } = await of.run({
        x: new Tensor('float32', values, [200]),
        low: new Tensor('float32', [low], []),
        zero: new Tensor('uint8', [zero], [])
      })
      const clipped = Float32Array.from(values, value => Math.max(value, low))
      expect([...(y.data as Float32Array)]).toEqual([...clipped])
      expect([...(q.data as Uint8Array)]).toEqual(
        Array.from(clipped, value => Math.max(0, evenRound(value / 0.5) + zero))
      )
    }
  })
})

const evenRound = (value: number): number => {
  const below = Math.floor(value)
  return value - below === 0.5 ? below + (below & 1) : Math.round(value)
}
