import { expect, test } from 'vitest'
import { bytesSource } from '../../../src/files/byte-source.ts'
import { bodiesOf, type Graph, type Model } from '../../../src/graph/graph.ts'
import { loadOnnxText } from '../../../src/onnx/syntax/load.ts'
import { printFloat } from '../../../src/onnx/syntax/print-values.ts'
import { printModel } from '../../../src/onnx/syntax/print.ts'
import { failure } from '../encode.ts'
import { contentOf } from '../write/copies.ts'

const HEADER = '< ir_version: 10, opset_import: ["" : 17, "com.own" : 1] >'
const read = (text: string): Model =>
  loadOnnxText(bytesSource('a.onnxtxt', new TextEncoder().encode(text)), { file: 'a.onnxtxt' })
const graph = (text: string): Graph => read(`${HEADER} ${text}`).graph
const printed = (model: Model): string => [...printModel(model)].join('\n')

test('a model of the documentation of the format is read', () => {
  const { nodes, inputs, outputs, name } = graph(`
    agraph (float[N, 128] X, float[128, 10] W, float[10] B) => (float[N, 10] C)
    {  # comments stand anywhere
        T = MatMul(X, W)
        S = Add(T, B)
        C = Softmax(S)
    }`)
  expect(name).toBe('agraph')
  expect(nodes.map(({ type, inputs: ins, outputs: outs }) => [type, ins, outs])).toEqual([
    ['MatMul', ['X', 'W'], ['T']],
    ['Add', ['T', 'B'], ['S']],
    ['Softmax', ['S'], ['C']]
  ])
  expect(inputs.map(({ declared }) => declared)).toEqual([
    { kind: 'tensor', type: 'float32', dims: ['N', 128] },
    { kind: 'tensor', type: 'float32', dims: [128, 10] },
    { kind: 'tensor', type: 'float32', dims: [10] }
  ])
  expect(outputs[0].declared).toEqual({ kind: 'tensor', type: 'float32', dims: ['N', 10] })
})

test('attributes are of the type that is stated, or that their values have', () => {
  const { nodes } = graph(`g (x) => (y) { y = com.own.Op <
    a = 1, b = 1.5, c: float = 2, d = "q\\"uote", e = [1, 2], f: ints = [], g = [-inf, NaN],
    h: tensor = int8[2] {1, -1}, i = float[] , j = ["a", "b"], k: float = -0> (x) }`)
  const [{ attributes }] = nodes
  const values = [...attributes].map(([name, { kind, value }]) => [name, kind, kind === 'tensor' ? 0 : value])
  expect(values).toEqual([
    ['a', 'int', 1n],
    ['b', 'float', 1.5],
    ['c', 'float', 2],
    ['d', 'string', 'q"uote'],
    ['e', 'ints', [1n, 2n]],
    ['f', 'ints', []],
    ['g', 'floats', [-Infinity, NaN]],
    ['h', 'tensor', 0],
    ['i', 'type', { kind: 'tensor', type: 'float32' }],
    ['j', 'strings', ['a', 'b']],
    ['k', 'float', -0]
  ])
})

test('inputs and outputs may be left out, and names be in quotes', () => {
  const [first, second] = graph('g (x) => (y) { ["the node"] a, , "b.1" = Op (x, "", , a) z = Op:other () }').nodes
  expect([first.name, first.inputs, first.outputs]).toEqual([
    'the node',
    ['x', undefined, undefined, 'a'],
    ['a', undefined, 'b.1']
  ])
  expect([second.inputs, second.overload]).toEqual([[], 'other'])
})

test('initializers stand beside declared values, and in inputs with a default', () => {
  const { initializers, inputs, values } = graph(`g (float[2] x = {1, 2}) => (y)
    <float w = {0.5}, float[2] v, int4[3] p = {33, 3}, string[1] s = {"t"}, float16[1] h = {15360}> 
    { y = Add (x, w) v = Abs (y) }`)
  expect(inputs.map(({ name }) => name)).toEqual(['x'])
  const elements = [...initializers].map(([name, constant]) => [name, constant.dims, [...constant.read().data]])
  expect(elements).toEqual([
    ['x', [2], [1, 2]],
    ['w', [], [0.5]],
    ['p', [3], [1, 2, 3]],
    ['s', [1], ['t']],
    ['h', [1], [15360]]
  ])
  expect(values.get('v')?.declared).toEqual({ kind: 'tensor', type: 'float32', dims: [2] })
})

test('initializers have any number of elements', () => {
  const elements = Array.from({ length: 5000 }, (_, i) => i * 3)
  const given = ['float', 'double', 'int64'].map(type => `${type}[5000] w_${type} = {${elements.join()}}`)
  const { initializers } = graph(`g (float[1] x) => (float[1] y) <${given.join()}> { y = Abs (x) }`)
  for (const constant of initializers.values()) expect(Array.from(constant.read().data, Number)).toEqual(elements)
  expect(initializers.size).toBe(3)
})

test('external data are stated as pairs of texts', () => {
  const { initializers } = graph('g () => (y) <float[2] w = ["location": "w.bin", "offset": "8"]> { y = Abs (w) }')
  expect(failure(() => initializers.get('w')?.read()).message).toContain('w.bin')
})

test('what is read and printed again is the same model, with bodies and functions', () => {
  const model = read(`< ir_version: 10, opset_import: ["" : 17, "own" : 1], producer_name: "p", doc_string: "d",
    model_version: 3, metadata_props: ["k": "v"] >
    g (bool c, seq(float[]) s, map(int64, float) m, optional(int32[?]) o) => (y)
    { y = If (c) <then_branch = t () => (float a) { a = Constant <value: tensor = float {1e-7}> () },
                  else_branch = e () => (float b) { b = own.f <k = 2> () }> }
    < domain: "own", opset_import: ["" : 17] >
    f <k, l: float = 1.5> () => (r) { r = Constant <value_int: int = @k> () }`)
  expect(contentOf(read(printed(model)))).toEqual(contentOf(model))
  expect(printed(read(printed(model)))).toBe(printed(model))
  expect(printed(model)).toContain('value_int: int = @k')
  expect(printed(model)).toContain('model_version: 3')
})

test.each(['plain', 'then-branch', '1st', 'float', 'map', ''])('a body may be called %j', name => {
  const body = (output: string): string =>
    `"${name}" () => (float ${output}) { ${output} = Constant <value_int = 1> () }`
  const model = read(`${HEADER} g (bool c) => (y)
    { y = If (c) <then_branch: graph = ${body('a')}, all: graphs = [${body('b')}, ${body('d')}]> }`)
  const names = bodiesOf(model.graph.nodes[0]).map(({ graph }) => graph.name)
  expect(names).toEqual([name, name, name])
  expect(contentOf(read(printed(model)))).toEqual(contentOf(model))
})

test('values without a type may be called as types are', () => {
  const model = read(`${HEADER} g ("float") => ("string") { "string" = com.own.f ("float") }
    < domain: "com.own", opset_import: ["" : 17] > f ("seq") => ("undefined") { "undefined" = Neg ("seq") }`)
  expect(model.graph.inputs.map(({ name, declared }) => [name, declared])).toEqual([['float', undefined]])
  expect(contentOf(read(printed(model)))).toEqual(contentOf(model))
})

test.each(['-1', '9223372036854775807'])('the model version %s is read and printed as it is', version => {
  const model = read(
    `< ir_version: 10, opset_import: ["" : 17], model_version: ${version} > g (x) => (y) { y = Neg (x) }`
  )
  expect(printed(model)).toContain(`model_version: ${version}\n`)
})

test('types that are nested too deep are refused', () => {
  const error = failure(() => graph(`g (${'seq('.repeat(100_000)}float) => (y) { y = Op (x) }`))
  expect(error.code).toBe('limit-exceeded')
})

test('a byte order mark before the text is skipped', () => {
  expect(read(`\ufeff${HEADER} g (x) => (y) { y = Neg (x) }`).graph.name).toBe('g')
})

test('large tensors are left out where that is asked for', () => {
  const model = read(`${HEADER} g () => (y) <float[3] w = {1, 2, 3}, float[1] v = {4}> { y = Add (w, v) }`)
  const text = [...printModel(model, { maxElements: 2 })].join('\n')
  expect(text).toContain('float[3] w = ...')
  expect(text).toContain('float[1] v = {4}')
})

test.each([
  ['g (x) => (y) { y = }', 'a name is expected', 1, 20],
  ['g (x) => (y)\n{ y = Op <a = > (x) }', 'a value is expected', 2, 15],
  ['g (x) => (y) { y = Op <a = []> (x) }', 'an empty list needs the type of its items', 1, 30],
  ['g (x) => (y) { y = Op <a: int = "t"> (x) }', 'a value of type int is expected', 1, 36],
  ['g (x) => (y) { y = Op <a: what = 1> (x) }', '"what" is no type of attributes', 1, 31],
  ['g (x) => (y) { y = Op <a: graph = 1> (x) }', 'a value of type graph is expected', 1, 36],
  ['g (x) => (y) { y = Op <a = 1e> (x) }', '">" is expected', 1, 29],
  ['g (x) => (y) { y = Op <a = 9223372036854775808> (x) }', '9223372036854775808 is not from', 1, 47],
  ['g (x) => (y) <int32[1] w = {2147483648}> { y = Op (x) }', '2147483648 is not from', 1, 39],
  ['g (x) => (y) <uint64[1] w = {18446744073709551616}> { y = Op (x) }', '18446744073709551616 is not', 1, 50]
])('%s is refused with its place', (text, message, line, column) => {
  const error = failure(() => read(text))
  expect(error).toMatchObject({ code: 'invalid-file', place: { file: 'a.onnxtxt', line, column } })
  expect(error.reason).toContain(message)
})

test('numbers in single precision have the fewest digits that give them back', () => {
  expect([0.1, 1 / 3, 1e-45, 3.4028234663852886e38, -0, 16777216].map(value => printFloat(Math.fround(value)))).toEqual(
    ['0.1', '0.33333334', '1e-45', '3.4028235e+38', '-0', '16777216']
  )
})

test('a list without a type is of the type of its first item', () => {
  const { nodes } = graph('g (x) => (y) { y = com.own.Op <a = [2.5, 1, 3]> (x) }')
  expect(nodes[0].attributes.get('a')).toEqual({ kind: 'floats', value: [2.5, 1, 3] })
  for (const list of ['[1, 2.5]', '["a", 1]', '[float[2], 1]'])
    expect(failure(() => graph(`g (x) => (y) { y = com.own.Op <a = ${list}> (x) }`)).code).toBe('invalid-file')
})

test('an opaque type without a domain is printed as it is read', () => {
  const text = printed(read(`${HEADER} g (opaque(C) a, opaque(d.e, C) b) => (y) { y = com.own.Op (a, b) }`))
  expect(text).toContain('(opaque(C) a, opaque(d.e, C) b)')
  expect(printed(read(text))).toBe(text)
})
