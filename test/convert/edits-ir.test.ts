import { expect, test } from 'vitest'
import { registryWith } from '../../src/built-in.ts'
import { inDialect } from '../../src/convert/dialect.ts'
import { editModel, type EditOptions } from '../../src/convert/edits/edit.ts'
import { InferenceSession, type Model, Tensor } from '../../src/index.ts'
import { load } from '../../src/load.ts'
import { writeOpenvino } from '../../src/openvino/write/write.ts'
import { ALL_CONVERSIONS } from '../../src/ops/conversions.ts'

const joined = (chunks: Iterable<Uint8Array>): Uint8Array =>
  Buffer.concat([...chunks].map(chunk => Uint8Array.from(chunk)))

const files = (model: Model): { xml: Uint8Array; bin: Uint8Array } => {
  const { xml, bin } = writeOpenvino(model)
  return { xml: joined(xml), bin: joined(bin) }
}

/** An IR that was written and read, as a file would be. */
const read = async (graph: string): Promise<Model> => {
  const text = `< ir_version: 8, opset_import: ["" : 17] > ${graph}`
  const onnx = await load(new TextEncoder().encode(text), { name: 'm.onnxtxt' })
  return load(files(inDialect(onnx, 'openvino', registryWith(), ALL_CONVERSIONS)))
}

async function edited(
  model: Model,
  options: EditOptions
): Promise<{ model: Model; xml: string; changed: readonly object[] }> {
  const result = editModel(model, registryWith(), options, ALL_CONVERSIONS)
  const written = files(result.model)
  return { model: await load(written), xml: new TextDecoder().decode(written.xml), changed: result.changed }
}

const types = ({ graph }: Model): string[] => graph.nodes.map(({ type }) => type)
const run = async (model: Model, feeds: Record<string, Tensor>) => new InferenceSession(model).run(feeds)
const pair = new Tensor('float32', [1, 2], [2])

test('a part of an IR has a Parameter and a Result for each value between which it was cut', async () => {
  const model = await read(`g (float[2] x, float[2] z) => (float[2] y) <float[2] w = {1, 2}, float[2] v = {3, 4}>
    { a = Mul (x, w) b = Add (a, z) c = Mul (b, v) y = Neg (c) }`)
  const { model: part } = await edited(model, { from: ['a'], to: ['c'] })
  expect(types(part).sort()).toEqual(['Add', 'Const', 'Multiply', 'Parameter', 'Parameter', 'Result'])
  expect(part.graph.inputs.map(({ name }) => name).sort()).toEqual(['a', 'z'])
  expect(part.graph.outputs.map(({ name }) => name)).toEqual(['c'])
  const { c } = await run(part, { a: pair, z: pair })
  expect([...c.data]).toEqual([6, 16])
  await expect(edited(model, { from: ['aa'] })).rejects.toMatchObject({ code: 'bad-usage' })
})

test('one output of a layer is given though another of it is computed', async () => {
  const model = await read(`g (float[4] x) => (float[2] y) { a, b = Split (x) y = Add (a, b) }`)
  const { model: part } = await edited(model, { from: ['b'] })
  const { y } = await run(part, { x: new Tensor('float32', [1, 2, 3, 4], [4]), b: pair })
  expect([...y.data]).toEqual([2, 4])
})

test('what is known becomes a Const, and what does nothing or is not needed is left out', async () => {
  const model =
    await read(`g (float[2, 3] x) => (float[2, 3] y, int64[2] h) <float[3] w = {1, 2, 3}, int64[2] s = {2, 3}>
    { c = Cast <to = 1> (x) r = Reshape (c, s) t = Transpose <perm = [0, 1]> (r)
      k = Neg (w) y = Mul (t, k) h = Shape (x) }`)
  const { model: result, changed } = await edited(model, { simplify: true })
  expect(types(result)).toEqual(['Parameter', 'Const', 'Multiply', 'Const', 'Result', 'Result'])
  expect(changed).toContainEqual({ node: 't', how: 'does nothing and is left out' })
  expect(changed).toContainEqual({ node: 'k', how: 'is computed already' })
  const x = new Tensor('float32', [1, 2, 3, 4, 5, 6], [2, 3])
  const [before, after] = [await run(model, { x }), await run(result, { x })]
  expect(after.y).toEqual(before.y)
  expect(after.h).toEqual(before.h)
})

test('weights in half precision have the Convert and the mark by which OpenVINO keeps them so', async () => {
  const ones = Array.from({ length: 16 }, (_, i) => i / 4).join(',')
  const model = await read(`g (float[16] x) => (y) <float[16] w = {${ones}}, float[16] big = {${ones}e9}>
    { a = Mul (x, w) y = Add (a, big) }`)
  const { model: result, xml } = await edited(model, { half: true })
  expect(xml).toContain('<attribute name="decompression" version="0" />')
  const constants = result.graph.nodes.filter(({ type }) => type === 'Const')
  expect(constants.map(({ name, constant }) => [name, constant?.type]).sort()).toEqual([
    ['big', 'float32'],
    ['w_compressed', 'float16']
  ])
  const x = new Tensor('float32', new Float32Array(16).fill(2), [16])
  expect((await run(result, { x })).y).toEqual((await run(model, { x })).y)
  // The mark holds them also where all that is known is folded.
  const folded = await edited(result, { simplify: true })
  expect(folded.model.graph.nodes.map(({ constant }) => constant?.type)).toContain('float16')
})

test('layers newer than a wanted opset name that where they mean the same', async () => {
  const model = await read('g (float[2, 3] x) => (y) { y = Softmax <axis = 1> (x) }')
  const version = ({ graph }: Model): unknown => graph.nodes.find(({ type }) => /^softmax/i.test(type))?.version
  expect(version(model)).toBe('opset8')
  const { model: older, changed } = await edited(model, { opset: 7 })
  expect(version(older)).toBe('opset7')
  expect(changed).toEqual([])
  const x = new Tensor('float32', [1, 2, 3, 4, 5, 6], [2, 3])
  expect((await run(older, { x })).y).toEqual((await run(model, { x })).y)
})

test('the axis of Softmax is counted from the start below opset8', async () => {
  const model = await read('g (float[2, 3] x) => (y) { y = Softmax <axis = -2> (x) }')
  const { model: older, changed } = await edited(model, { opset: 7 })
  const axis = ({ graph }: Model): unknown =>
    graph.nodes.find(({ type }) => /^softmax/i.test(type))?.attributes.get('axis')?.value
  expect([axis(model), axis(older)]).toEqual(['-2', '0'])
  expect(changed).toHaveLength(1)
  const x = new Tensor('float32', [1, 2, 3, 4, 5, 6], [2, 3])
  expect((await run(older, { x })).y).toEqual((await run(model, { x })).y)
})

test('an older opset whose layers mean something else is refused', async () => {
  // Gather-7 has no indices that count from the end.
  const model = await read('g (float[2, 3] x, int64[2] i) => (y) { y = Gather <axis = 1> (x, i) }')
  await expect(edited(model, { opset: 7 })).rejects.toMatchObject({
    code: 'unsupported-op',
    details: { nodes: [{ node: 'y', reason: expect.any(String) }] }
  })
})
