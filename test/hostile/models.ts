import { block, encode, tag, tensorInfo, TYPE, varint } from '../onnx/encode.ts'

/** A NodeProto of ONNX's own domain, unless `more` says otherwise. */
export const opNode = (
  opType: string,
  input: readonly string[],
  output: readonly string[],
  more: object = {}
): object => ({ opType, input, output, ...more })
export const node = opNode

export const ints = (name: string, values: readonly (number | bigint)[]): object => ({
  name,
  dims: [values.length],
  dataType: TYPE.INT64,
  rawData: new Uint8Array(BigInt64Array.from(values.map(BigInt)).buffer)
})

/** A field that holds bytes or a message. */
export function wrapped(field: number, content: Uint8Array): Uint8Array {
  const head = [...tag(field, 2), ...varint(content.length)]
  const all = new Uint8Array(head.length + content.length)
  all.set(head)
  all.set(content, head.length)
  return all
}

/**
 * A model with these bytes as its graph's fields, and more fields of its own; for what is too large to be made as
 * numbers.
 */
export function modelWith(graph: Uint8Array, more: Uint8Array = new Uint8Array()): Uint8Array {
  const head = [...tag(1, 0), 9, ...block(8, [...tag(2, 0), 17])]
  return new Uint8Array(Buffer.concat([Uint8Array.from(head), wrapped(7, graph), more]))
}

const OPSETS = [
  { domain: '', version: 17 },
  { domain: 'd', version: 1 }
]

/** A model of these nodes with an input `x` of two floats and an output `y`, unless `graph` says otherwise. */
export function encodeModel(
  nodes: readonly object[],
  { functions = [], ...graph }: { readonly functions?: readonly object[]; readonly [field: string]: unknown } = {}
): Uint8Array {
  return encode('ModelProto', {
    irVersion: 9,
    opsetImport: OPSETS,
    functions,
    graph: { name: 'g', input: [tensorInfo('x', TYPE.FLOAT, [2])], output: [tensorInfo('y')], node: nodes, ...graph }
  })
}

/** A model of one node with an attribute. */
export const withAttribute = (type: string, attribute: object, inputs: readonly string[] = ['x']): Uint8Array =>
  encodeModel([node(type, inputs, ['y'], { attribute: [attribute] })])

/** A function of one input and one output, in domain `d`. */
export const functionOf = (name: string, nodes: readonly object[]): object => ({
  name,
  domain: 'd',
  input: ['x'],
  output: ['y'],
  opsetImport: OPSETS,
  node: nodes
})

/**
 * `depth` functions, each of which calls the next `calls` times; the last is a Neg. `reversed`: the model calls every
 * one, the innermost first,
 * so that whoever counts them once meets none that is deep.
 */
export function doublingFunctions(depth: number, calls = 2, reversed = false, name = 'f'): Uint8Array {
  const callsOf = (type: string): object[] =>
    Array.from({ length: calls }, (_, i) =>
      node(type, [i === 0 ? 'x' : `v${i}`], [i === calls - 1 ? 'y' : `v${i + 1}`], { domain: 'd' })
    )
  const functions = Array.from({ length: depth }, (_, i) =>
    functionOf(`${name}${i}`, i === depth - 1 ? [node('Neg', ['x'], ['y'])] : callsOf(`${name}${i + 1}`))
  )
  if (!reversed) return encodeModel([node(`${name}0`, ['x'], ['y'], { domain: 'd' })], { functions })
  return encodeModel(
    functions.map((_, i) => node(`${name}${depth - 1 - i}`, ['x'], [i === depth - 1 ? 'y' : `u${i}`], { domain: 'd' })),
    { functions }
  )
}
