import { fail } from '../../errors.ts'
import { derive } from '../../graph/derive.ts'
import type { DeclaredType, Graph, GraphPort, Model, ValueId } from '../../graph/graph.ts'
import { didYouMean } from '../../suggest.ts'
import { nodesFor, withNodes } from './nodes.ts'

/**
 * The part of a model between some values: those of `from` become inputs, those of `to` outputs. Inputs of the model
 * that the part still reads stay inputs.
 * @param typeOf the type of a value that the file does not declare
 * @throws NodewiseError `bad-usage` for a name that is no value of the main graph
 */
export function extract(
  model: Model,
  from: readonly string[],
  to: readonly string[],
  typeOf: (id: ValueId) => DeclaredType | undefined
): Model {
  const { graph } = model
  const starts = from.map(name => valueNamed(graph, name))
  const given = new Set(starts)
  const port = (id: ValueId): GraphPort => {
    const value = graph.values.get(id)
    const declared = value?.declared ?? typeOf(id)
    return { name: id, aliases: [], value: id, place: value?.place ?? {}, ...(declared && { declared }) }
  }
  const ports = new Map([...graph.inputs, ...graph.outputs].map(known => [known.value, known]))
  const outputs =
    to.length === 0 ? graph.outputs : to.map(name => valueNamed(graph, name)).map(id => ports.get(id) ?? port(id))
  const { nodes, read } = nodesFor(
    graph,
    outputs.map(({ value }) => value),
    given
  )
  const inputs = [
    ...graph.inputs.filter(({ value }) => read.has(value) && !given.has(value)),
    ...starts.map(id => ports.get(id) ?? port(id))
  ]
  return derive(model, { graph: withNodes(graph, nodes, { inputs, outputs }) })
}

function valueNamed(graph: Graph, name: string): ValueId {
  if (graph.values.has(name)) return name
  return fail('bad-usage', `the model has no value "${name}"${didYouMean(name, graph.values.keys())}`)
}
