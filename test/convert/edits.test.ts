import { expect, test } from 'vitest'
import { registryWith } from '../../src/built-in.ts'
import { editModel, type EditOptions } from '../../src/convert/edits/edit.ts'
import type { Model } from '../../src/graph/graph.ts'
import { InferenceSession } from '../../src/index.ts'
import { load } from '../../src/load.ts'
import { printModel } from '../../src/onnx/syntax/print.ts'
import { ALL_CONVERSIONS } from '../../src/ops/conversions.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { modelBytes, tensorInfo } from '../onnx/encode.ts'
import { written } from '../onnx/write/copies.ts'
import { expectNear } from '../ops/near.ts'

const read = (graph: string, opset = 17): Promise<Model> =>
  load(new TextEncoder().encode(`< ir_version: 8, opset_import: ["" : ${opset}] > ${graph}`), { name: 'm.onnxtxt' })

/** The model that edits make, after it was written and read again. */
async function edited(model: Model, options: EditOptions): Promise<{ model: Model; changed: readonly object[] }> {
  const result = editModel(model, registryWith(), options, ALL_CONVERSIONS)
  return { model: await load(written(result.model)), changed: result.changed }
}

const types = ({ graph }: Model): string[] => graph.nodes.map(({ type }) => type)
const text = (model: Model): string => [...printModel(model)].join('\n')

test('inferred types are declared, and false ones replaced; what is not known keeps its declaration', async () => {
  const model = await read(
    `g (float[2, n] x, float[k] z) => (float[3, n] y) <float[m] c> 
    { a = Abs (x) y = Neg (a) b = Abs(z) c = Compress (b, x) }`
  )
  const result = await edited(model, { inferShapes: true })
  const printed = text(result.model)
  expect(printed).toContain('=> (float[2,n] y)')
  expect(printed).toContain('float[2,n] a')
  expect(printed).toContain('float[m] c')
  expect(result.changed).toContainEqual({ node: 'node 1 Neg', how: '"y" is declared float[2,n], not float[3,n]' })
})

test('the dims that are given for inputs are declared, and what follows from them', async () => {
  const model = await read('g (float[n] x) => (float[n] y) { y = Concat <axis = 0> (x, x) }')
  const { model: result } = await edited(model, { inputShapes: new Map([['x', [4]]]) })
  expect(text(result)).toContain('(float[4] x) => (float[8] y)')
})

test('bodies are declared too', async () => {
  const model = await read(`g (bool c, float[2] x) => (y) { y = If (c) <
    then_branch = t () => (a) { a = Abs (x) }, else_branch = e () => (b) { b = Neg (x) }> }`)
  const { model: result } = await edited(model, { inferShapes: true })
  expect(text(result)).toContain('t () => (float[2] a)')
})

test('a part of a model has the given values as inputs and outputs, and no more than it needs', async () => {
  const model = await read(`g (float[2] x, float[2] z) => (float[2] y) <float[2] w = {1, 2}, float[2] v = {3, 4}>
    { a = Mul (x, w) b = Add (a, z) c = Mul (b, v) y = Neg (c) }`)
  const { model: result } = await edited(model, { from: ['a'], to: ['c'] })
  expect(types(result)).toEqual(['Add', 'Mul'])
  expect(text(result)).toContain('(float[2] z, float[2] a) => (float[2] c)')
  expect([...result.graph.initializers.keys()]).toEqual(['v'])
  await expect(edited(model, { from: ['aa'] })).rejects.toMatchObject({ code: 'bad-usage' })
})

test('a start that leads to no output is refused', async () => {
  const model = await read('g (float[2] x) => (float[2] y) { a = Abs (x) b = Neg (x) c = Neg (a) y = Add (c, b) }')
  const refusal = { code: 'bad-usage', message: expect.stringContaining('"b" does not lead to "c"') as string }
  await expect(edited(model, { from: ['b'], to: ['c'] })).rejects.toMatchObject(refusal)
  await expect(edited(model, { from: ['a', 'c'] })).rejects.toMatchObject({ code: 'bad-usage' })
  expect(types((await edited(model, { from: ['a'], to: ['a', 'c'] })).model)).toEqual(['Neg'])
})

test('a value that is named twice is one input, and one output', async () => {
  const model = await read('g (float[2] x) => (float[2] y) { a = Abs (x) b = Neg (a) y = Relu (b) }')
  const { model: part } = await edited(model, { from: ['a', 'a'], to: ['b', 'b'] })
  expect([part.graph.inputs, part.graph.outputs].map(ports => ports.map(({ name }) => name))).toEqual([['a'], ['b']])
})

test('what is known, does nothing or is not needed is left out, and the rest computes the same', async () => {
  const model =
    await read(`g (float[2, 3] x) => (float[2, 3] y, float[?, ?] z) <float[3] w = {1, 2, 3}, int64[2] s = {2, 3}>
    { i = Identity (x) c = Cast <to = 1> (i) r = Reshape (c, s) t = Transpose <perm = [0, 1]> (r) d = Dropout (t)
      one = Constant <value_float = 1.0> () k = Add (w, one) dead = Abs (d) y = Mul (d, k)
      h = Shape (x) z = Reshape (y, h) }`)
  const { model: result, changed } = await edited(model, { simplify: true })
  expect(types(result)).toEqual(['Mul', 'Reshape'])
  expect(changed).toContainEqual({ node: 'node 0 Identity', how: 'does nothing and is left out' })
  const x = new Tensor('float32', [1, 2, 3, 4, 5, 6], [2, 3])
  const [before, after] = [await new InferenceSession(model).run({ x }), await new InferenceSession(result).run({ x })]
  expect(after.y).toEqual(before.y)
  expect(after.z).toEqual(before.z)
})

test('what does nothing stays where it makes an output or is read by a body', async () => {
  const model = await read(`g (bool c, float[2] x) => (float[2] y, float[2] i) { i = Identity (x) j = Identity (x)
    y = If (c) <then_branch = t () => (a) { a = Abs (j) }, else_branch = e () => (b) { b = Neg (j) }> }`)
  const { model: result } = await edited(model, { simplify: true })
  expect(types(result)).toEqual(['Identity', 'Identity', 'If'])
})

test('weights that fit are stored in half precision and cast where they are used', async () => {
  const ones = Array.from({ length: 16 }, (_, i) => i / 4).join(',')
  const model = await read(`g (float[16] x) => (y) <float[16] w = {${ones}}, float[16] big = {${ones}e9}>
    { a = Mul (x, w) y = Add (a, big) }`)
  const { model: result } = await edited(model, { half: true })
  expect([...result.graph.initializers].map(([name, { type }]) => [name, type])).toEqual([
    ['w_f16', 'float16'],
    ['big', 'float32']
  ])
  const x = new Tensor('float32', new Float32Array(16).fill(2), [16])
  expect((await new InferenceSession(result).run({ x })).y).toEqual((await new InferenceSession(model).run({ x })).y)
})

test('weights of a model of before opset 6 are cast by the name of the type', async () => {
  const weights = Array.from({ length: 16 }, (_, i) => i / 8).join()
  const graph = `g (float[16] x) => (float[16] y) <float[16] w = {${weights}}> { y = Mul (x, w) }`
  const { model } = await edited(await read(graph, 5), { half: true })
  expect(text(model)).toContain('Cast <to: string = "FLOAT">')
  const x = new Tensor('float32', new Float32Array(16).fill(8), [16])
  const { y } = await (await InferenceSession.create(written(model))).run({ x })
  expect(y.data).toEqual(Float32Array.from({ length: 16 }, (_, i) => i))
})

test('weights of a model that does not import ai.onnx cannot be cast', async () => {
  const graph = `< ir_version: 8, opset_import: ["com.microsoft" : 1] > g (float[16] x) => (float[16] y)
    <float[16] w = {${Array.from({ length: 16 }, () => 1).join()}}> { y = com.microsoft.BiasGelu (x, w) }`
  const model = await load(new TextEncoder().encode(graph), { name: 'm.onnxtxt' })
  expect(() => editModel(model, registryWith(), { half: true })).toThrow(
    expect.objectContaining({ code: 'unsupported-op' })
  )
})

test('raw weights are converted as they are read, also from the middle of an element', async () => {
  const bytes = new Uint8Array(Float32Array.from({ length: 20 }, (_, i) => i - 7.5).buffer)
  const model = await load(
    modelBytes({
      graph: {
        name: 'g',
        initializer: [{ name: 'w', dims: [20], dataType: 1, rawData: bytes }],
        node: [{ opType: 'Abs', input: ['w'], output: ['y'] }],
        output: [tensorInfo('y')]
      }
    })
  )
  const { model: half } = editModel(model, registryWith(), { half: true })
  const constant = half.graph.initializers.get('w_f16')
  const all = new Uint8Array(new Uint16Array(constant?.read().data as Uint16Array).buffer)
  expect(constant?.raw?.source.read(0, 40)).toEqual(all)
  expect(constant?.raw?.source.read(3, 8)).toEqual(all.subarray(3, 11))
})

test('an operator set in which every node means the same is imported, and nothing else changes', async () => {
  const model = await read('g (float[2] x) => (y) { y = Relu (x) }', 13)
  const { model: result, changed } = await edited(model, { opset: 17 })
  expect(result.opsets.get('ai.onnx')).toBe(17)
  expect(changed).toEqual([])
})

test.each([
  ['IsInf', 10, 21, 'b = IsInf <detect_negative = 0> (x) y = Cast <to = 1> (b)'],
  ['Shrink', 9, 17, 'y = Shrink <lambd = 1.5> (x)'],
  ['Mod', 13, 17, 'i = Cast <to = 7> (x) r = Mod (i, i) y = Cast <to = 1> (r)']
])('%s, whose function is made of attributes, stays from opset %i to %i', async (_, from, to, nodes) => {
  const model = await read(`g (float[2] x) => (float[2] y) { ${nodes} }`, from)
  const { model: result, changed } = await edited(model, { opset: to })
  expect(result.opsets.get('ai.onnx')).toBe(to)
  expect(changed).toEqual([])
})

test('a Mod of floats, which opset 27 lacks, does not stay for its attributes', async () => {
  const model = await read('g (float[2] x) => (float[2] y) { y = Mod (x, x) }', 28)
  await expect(edited(model, { opset: 27 })).rejects.toMatchObject({ code: 'unsupported-op' })
})

test.each([
  [11, 13, '(x, s, z)', '(q, s, z)'],
  [13, 11, '(x, s, z)', '(q, s, z)'],
  [13, 10, '(x, list, zeros)', '(q, list, zeros)'],
  [21, 13, '<output_dtype = 2> (x, s)', '(q, s)'],
  [23, 21, '<precision = 1> (x, s, z)', '<output_dtype = 1> (q, s, z)']
])('a quantization by one scale of opset %i means the same in opset %i', async (from, to, quantized, numbers) => {
  const model = await read(
    `g (float[2, 3] x) => (float[2, 3] y)
    <float s = {0.5}, uint8 z = {3}, float[1] list = {0.5}, uint8[1] zeros = {3}>
    { q = QuantizeLinear ${quantized} y = DequantizeLinear ${numbers} }`,
    from
  )
  const { model: result } = await edited(model, { opset: to })
  expect(result.opsets.get('ai.onnx')).toBe(to)
  expect(types(result)).toEqual(['QuantizeLinear', 'DequantizeLinear'])
  const x = random(2, 3)
  const [before, after] = [await new InferenceSession(model).run({ x }), await new InferenceSession(result).run({ x })]
  expect([...(after.y.data as Float32Array)]).toEqual([...(before.y.data as Float32Array)])
})

test.each([
  [13, 11, 'float[3] s = {1, 2, 3}, uint8[3] z = {1, 2, 3}', '(x, s, z)'],
  [21, 13, 'float s = {1}', '<output_dtype = 3> (x, s)'],
  [23, 21, 'float s = {1}, uint8 z = {1}', '<precision = 10> (x, s, z)']
])('a quantization of opset %i that opset %i does not have is refused', async (from, to, constants, inputs) => {
  const model = await read(`g (float[2, 3] x) => (y) <${constants}> { y = QuantizeLinear ${inputs} }`, from)
  await expect(edited(model, { opset: to })).rejects.toMatchObject({ code: 'unsupported-op' })
})

test.each([
  [{ simplify: true }, 4],
  [{ half: true }, 4],
  [{ to: ['e'] }, 3]
])('constants that edits make are no inputs, which the IR has from version 4 on: %o', async (options, irVersion) => {
  const model = await load(
    new TextEncoder().encode(`< ir_version: 3, opset_import: ["" : 8] > g (float[1] x, float[1] v) => (float[16] y)
      <float[1] v = {3}, float[16] w = {${new Array<number>(16).fill(1)}}>
      { c = Constant <value = float[1] {2}> () d = Add (c, c) e = Mul (x, d) f = Add (e, v) y = Mul (f, w) }`),
    { name: 'm.onnxtxt' }
  )
  const { model: result } = await edited(model, options)
  expect(result.irVersion).toBe(irVersion)
})

const random = (...dims: number[]): Tensor => {
  const count = dims.reduce((a, b) => a * b, 1)
  return new Tensor(
    'float32',
    Array.from({ length: count }, (_, i) => Math.sin(7 * i + 1)),
    dims
  )
}

test.each([
  [
    'axes become an input',
    11,
    18,
    'r = ReduceMean <axes = [1], keepdims = 0> (x) u = Unsqueeze <axes = [0]> (r) y = Squeeze <axes = [0]> (u)'
  ],
  [
    'axes become an attribute',
    18,
    11,
    'r = ReduceMean <keepdims = 0> (x, one) u = Unsqueeze (r, one) y = Squeeze (u, one)'
  ],
  [
    'bounds, pads and sizes become inputs',
    10,
    21,
    `c = Clip <min = 0.1, max = 0.5> (x) p = Pad <mode = "constant", pads = [0, 1, 0, 0, 2, 0], value = 3.0> (c)
      a, b = Split <axis = 1, split = [3, 3]> (p) y = Sub (a, b)`
  ],
  [
    'bounds, pads and sizes become attributes',
    18,
    10,
    'c = Clip (x, low, high) p = Pad (c, pads, low, one) a, b = Split <axis = 1, num_outputs = 2> (p) y = Sub (a, b)'
  ],
  ['a softmax over all axes from one on', 11, 13, 'y = Softmax <axis = 1> (x)'],
  ['a softmax along one axis', 13, 11, 'y = Softmax <axis = 1> (x)'],
  ['a function by its definition', 20, 13, 'y = Gelu (x)'],
  ['a function by its definition approximated', 20, 17, 'y = Gelu <approximate = "tanh"> (x)'],
  ['a normalization by its definition', 17, 13, 'y = LayerNormalization <axis = -2> (x, scale)'],
  ['some dims', 15, 13, 's = Shape <start = 1> (x) f = Cast <to = 1> (s) y = Mul (f, k)'],
  ['comparisons', 16, 11, 'g = GreaterOrEqual (x, k) l = LessOrEqual (x, k) a = Or (g, l) y = Cast <to = 1> (a)']
])('%s: opset %i as opset %i', async (_, from, to, nodes) => {
  const model = await read(
    `g (float[2, 3, 2] x) => (y) <int64[1] one = {1}, float low = {0.1}, float high = {0.5},
    int64[2] pads = {1, 2}, float[3, 2] scale = {1, 2, 3, 4, 5, 6}, float[2] k = {2, 0.5}> { ${nodes} }`,
    from
  )
  const { model: result, changed } = await edited(model, { opset: to })
  expect(result.opsets.get('ai.onnx')).toBe(to)
  expect(changed).toContainEqual(expect.objectContaining({ how: `is said in opset ${to}` }))
  const x = random(2, 3, 2)
  const [before, after] = [await new InferenceSession(model).run({ x }), await new InferenceSession(result).run({ x })]
  expect(after.y.dims).toEqual(before.y.dims)
  for (const [i, value] of (before.y.data as Float32Array).entries()) expect(after.y.data[i]).toBeCloseTo(value, 5)
})

test('bodies are said in the other operator set too, those of branches that are not taken included', async () => {
  const model = await read(
    `g (float[2, 2] x) => (y) <bool c = {1}> { y = If (c) <
    then_branch = t () => (a) { a = ReduceSum <axes = [0]> (x) },
    else_branch = e () => (b) { b = ReduceSum <axes = [1]> (x) }> }`,
    11
  )
  const { model: result } = await edited(model, { opset: 13 })
  expect(text(result)).not.toContain('axes')
  const x = new Tensor('float32', [1, 2, 3, 4], [2, 2])
  expect((await new InferenceSession(result).run({ x })).y).toEqual((await new InferenceSession(model).run({ x })).y)
})

test.each([
  [17, 20, 't = DFT <axis = 1, onesided = 1> (x, eight)'],
  [20, 17, 't = DFT <onesided = 1> (x, eight, one)']
])('a transform of opset %i has its axis and its length as scalars in opset %i', async (from, to, nodes) => {
  const model = await read(
    `g (float[1, 6, 1] x) => (float[?, ?, ?] t) <int64 one = {1}, int64 eight = {8}> { ${nodes} }`,
    from
  )
  const { model: result } = await edited(model, { opset: to })
  const [node] = result.graph.nodes
  const inputs = node.inputs.slice(1).map(id => result.graph.initializers.get(id ?? '')?.dims)
  expect(inputs).toEqual(to < 20 ? [[]] : [[], []])
  const x = random(1, 6, 1)
  expect((await new InferenceSession(result).run({ x })).t).toEqual((await new InferenceSession(model).run({ x })).t)
})

test.each(['y = Resize <mode = "linear"> (x, , scales)', 'y = Resize <mode = "nearest"> (x, , , sizes)'])(
  'before opset 13, what %s leaves out is an empty list',
  async nodes => {
    const lists = 'float[2] scales = {2, 1.5}, int64[2] sizes = {3, 5}'
    const model = await read(`g (float[2, 3] x) => (float[?, ?] y) <${lists}> { ${nodes} }`, 13)
    const { model: result } = await edited(model, { opset: 11 })
    expect(result.graph.nodes[0].inputs).not.toContain(undefined)
    const x = random(2, 3)
    expect((await new InferenceSession(result).run({ x })).y).toEqual((await new InferenceSession(model).run({ x })).y)
  }
)

test('an input that may be left out in newer versions alone is not left out', async () => {
  const model = await read('g (float[2] x) => (bool y) { y = OptionalHasElement () }', 18)
  await expect(edited(model, { opset: 17 })).rejects.toMatchObject({
    code: 'unsupported-op',
    message: expect.stringContaining('requires an input') as string
  })
})

test('integers of Constant become initializers before opset 9, but for outputs', async () => {
  const model = await read(
    `g (float[2, 3] x) => (float[?, ?] y, int64[2] s) { s = Constant <value = int64[2] {3, 2}> ()
      t = Constant <value_ints = [2, 3]> () f = Constant <value_float = 2.0> ()
      m = Mul (x, f) r = Reshape (m, s) y = Reshape (r, t) }`,
    13
  )
  const { model: result, changed } = await edited(model, { opset: 8 })
  expect(types(result)).toEqual(['Constant', 'Constant', 'Mul', 'Reshape', 'Reshape'])
  expect([...result.graph.initializers.keys()]).toEqual(['t'])
  expect(changed).toContainEqual({ node: 'node 1 Constant', how: 'is an initializer in opset 8' })
  const x = random(2, 3)
  expect((await new InferenceSession(result).run({ x })).y).toEqual((await new InferenceSession(model).run({ x })).y)
})

test('parts whose number is given are uneven where the size is not known, too', async () => {
  const model = await read('g (float[n] x) => (a, b, c) { a, b, c = Split <num_outputs = 3> (x) }', 18)
  const { model: result } = await edited(model, { opset: 13 })
  for (const count of [7, 6]) {
    const x = random(count)
    expect(await new InferenceSession(result).run({ x })).toEqual(await new InferenceSession(model).run({ x }))
  }
})

test('an operator set that cannot say a node is refused, each such node by name', async () => {
  const model = await read('g (float[2, 3] x) => (y) { a = Abs (x) y = Trilu (a) }', 14)
  await expect(edited(model, { opset: 13 })).rejects.toMatchObject({
    code: 'unsupported-op',
    details: { nodes: [{ node: 'node 1 Trilu', reason: 'ONNX has no such operator' }] }
  })
})

test('axes that an input gives are refused where the operator set has an attribute for them', async () => {
  const model = await read('g (float[2, 3] x, int64[1] axes) => (y) { y = ReduceMean (x, axes) }', 18)
  await expect(edited(model, { opset: 13 })).rejects.toMatchObject({
    code: 'unsupported-op',
    message: expect.stringContaining(
      'axes is given while the model runs, which ReduceMean takes from opset 18 on'
    ) as string
  })
})

test('factors of groups are those of their instances before opset 18', async () => {
  const model = await read(
    `g (float[2, 4, 3] x) => (float[2, 4, 3] y) <float[2] s = {2, 3}, float[2] b = {0.5, 1}>
      { y = GroupNormalization <num_groups = 2> (x, s, b) }`,
    18
  )
  const { model: result } = await edited(model, { opset: 17 })
  expect(types(result)).toEqual(['Reshape', 'InstanceNormalization', 'Shape', 'Reshape'])
  const x = random(2, 4, 3)
  const [was, is] = await Promise.all([model, result].map(one => new InferenceSession(one).run({ x })))
  expectNear(is.y, [...(was.y.data as Float32Array)], 1e-5)
})

test('a type that the other operator set does not have is refused', async () => {
  const model = await read('g (bfloat16[2] x) => (y) { y = Relu (x) }', 13)
  await expect(edited(model, { opset: 7 })).rejects.toMatchObject({ code: 'unsupported-op' })
})
