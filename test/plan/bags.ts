import { InferenceSession, type RunOptions } from '../../src/index.ts'
import { toDoubles } from '../../src/tensor/elements.ts'
import { isTensor, Tensor, type Value } from '../../src/tensor/tensor.ts'
import { floats, int64s, type ModelParts, onnxModel } from '../fixtures/onnx.ts'

export const ROWS = 40
export const WIDTH = 39

/** A table of rows whose widths are no whole number of vectors. */
export const table = floats(
  'table',
  [ROWS, WIDTH],
  Array.from({ length: ROWS * WIDTH }, (_, i) => Math.sin(i))
)

export const longs = (...numbers: readonly number[]): Tensor =>
  new Tensor('int64', BigInt64Array.from(numbers, BigInt), [numbers.length])

export const list = (name: string, ...numbers: readonly number[]): object => int64s(name, [numbers.length], numbers)

export const scalar = (name: string, number: number): object => int64s(name, [], [number])

/** Indices of rows, some of them counted from the end. */
export const someRows = (count: number): Tensor =>
  longs(...Array.from({ length: count }, (_, i) => ((i * 17) % ROWS) - (i % 3 === 0 ? ROWS : 0)))

/** Dims and elements of the output `y` of a run. */
export async function outputOf(
  parts: ModelParts,
  feeds: Readonly<Record<string, Value>>,
  precision: 'fast' | 'exact',
  options: RunOptions = {}
): Promise<{ readonly dims: readonly number[]; readonly numbers: readonly number[] }> {
  const session = new InferenceSession(await onnxModel(parts), { precision })
  const { y } = await session.run(feeds, options)
  if (!y || !isTensor(y)) throw new Error('y is no tensor')
  const result = { dims: y.dims, numbers: [...toDoubles(y)] }
  session.dispose()
  return result
}

type NodeParts = {
  readonly name: string
  readonly input: readonly string[]
  readonly attribute: readonly { g?: Body }[]
}
type Body = { readonly node: readonly object[] }

/** A model in which one input of a node, which may stand in a body, is another one. */
export function withInput(parts: ModelParts, name: string, position: number, input: string): ModelParts {
  let isFound = false
  const changed = (nodes: readonly object[]): object[] =>
    nodes.map(each => {
      const part = each as NodeParts
      const attribute = part.attribute.map(item =>
        item.g ? { ...item, g: { ...item.g, node: changed(item.g.node) } } : item
      )
      if (part.name !== name) return { ...part, attribute }
      isFound = true
      const inputs = Array.from({ length: Math.max(part.input.length, position + 1) }, (_, i) => part.input[i] ?? '')
      return { ...part, attribute, input: inputs.with(position, input) }
    })
  const nodes = changed(parts.nodes)
  if (!isFound) throw new Error(`no node is named ${name}`)
  return { ...parts, nodes }
}
