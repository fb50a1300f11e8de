import { floats, type ModelParts, node, port } from '../fixtures/onnx.ts'

const HEADS = [2, 3]

/** Dims of the inputs of attention that is written in several nodes. */
export const DIMS = {
  q: [...HEADS, 20, 16],
  rows: [...HEADS, 30, 16],
  columns: [...HEADS, 16, 30],
  v: [...HEADS, 30, 8],
  row: [2, 1, 1, 30],
  full: [...HEADS, 20, 30]
}
export type Name = keyof typeof DIMS

/** Numbers that its nodes read. */
export const NUMBERS: readonly object[] = [
  floats('four', [], [4]),
  floats('half', [], [0.5]),
  floats('quarter', [1], [0.25]),
  floats('zero', [], [0]),
  floats('low', [], [-3]),
  floats('lowest', [], [-3.4028234663852886e38])
]

/** A model of these nodes. */
export const attentionModel = (
  inputs: readonly Name[],
  nodes: readonly object[],
  initializers: readonly object[] = NUMBERS
): ModelParts => ({
  inputs: inputs.map(name => port(name, 'float', DIMS[name])),
  outputs: [port('y', 'float')],
  initializers: [...initializers],
  nodes
})

export const SCORES = node('MatMul', ['q', 'columns'], ['s'])
export const weighted = (scores: string): readonly object[] => [
  node('Softmax', [scores], ['w'], { axis: -1 }),
  node('MatMul', ['w', 'v'], ['y'])
]

export const feedsOf = (names: readonly Name[]): Record<string, readonly number[]> =>
  Object.fromEntries(names.map(name => [name, DIMS[name]]))
