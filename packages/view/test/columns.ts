import { type Columns, KIND, textColumn } from '../src/graph/columns.ts'

/** Columns of one graph: nodes as `name: Operator < read, read`; a name that only is read is an input. */
export function columnsOf(lines: readonly string[]): Columns {
  const nodes = lines.map(line => {
    const [head, reads = ''] = line.split(' < ')
    const [name, type = 'Relu'] = head.split(': ')
    return { name, type, reads: reads.split(', ').filter(read => read !== '') }
  })
  const inputs = [...new Set(nodes.flatMap(({ reads }) => reads))].filter(
    name => !nodes.some(node => node.name === name)
  )
  const names = [...inputs, ...nodes.map(({ name }) => name)]
  const types = [...new Set(['Input', ...nodes.map(({ type }) => type)])]
  const edges = nodes.flatMap(({ name, reads }) =>
    reads.map(read => [names.indexOf(read), names.indexOf(name)] as const)
  )
  return {
    graphs: [{ path: '', valuePath: '', label: '', owner: -1, first: 0, count: names.length }],
    names: textColumn(names),
    types,
    type: Uint16Array.from([...inputs.map(() => 0), ...nodes.map(({ type }) => types.indexOf(type))]),
    kind: Uint8Array.from(names, (_, i) => (i < inputs.length ? KIND.input : KIND.node)),
    graph: new Uint32Array(names.length),
    from: Int32Array.from(edges, ([from]) => from),
    to: Int32Array.from(edges, ([, to]) => to),
    value: Int32Array.from(edges, ([from]) => from),
    maker: Int32Array.from(names, (_, i) => i),
    weights: new Map()
  }
}
