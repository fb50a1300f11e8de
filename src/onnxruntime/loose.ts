import type { Model, Tensor } from 'nodewise'
import { declaredOf, type DeclaredType, type GraphPort } from '../graph/graph.ts'

type DeclaredTensor = Extract<DeclaredType, { kind: 'tensor' }>

/** What a model declares of an input that is a tensor of known rank. */
function declaredTensor({ graph }: Model, port: GraphPort): Required<DeclaredTensor> | undefined {
  const declared = declaredOf(graph, port)
  return declared?.kind === 'tensor' && declared.dims ? (declared as Required<DeclaredTensor>) : undefined
}

/**
 * The model as onnxruntime checks the inputs of a run: a name of a dim stands for any size wherever it is, and an input
 * that is declared as a scalar may have any dims. Its exporters and their users count on both.
 */
export function loosened(model: Model): Model {
  const inputs = model.graph.inputs.map(port => {
    const declared = declaredTensor(model, port)
    if (!declared) return port
    const { dims, ...rest } = declared
    const loose = dims.map(dim => (typeof dim === 'string' ? null : dim))
    return { ...port, declared: dims.length === 0 ? rest : { ...rest, dims: loose } }
  })
  return { ...model, graph: { ...model.graph, inputs } }
}

/** Whether tensors for the inputs are none that the model declares, and may be of those that {@link loosened} does. */
export function needLoose(model: Model, given: Readonly<Record<string, Tensor>>): boolean {
  const sizes = new Map<string, number>()
  return model.graph.inputs.some(port => {
    const dims = Object.hasOwn(given, port.name) ? given[port.name].dims : undefined
    const declared = declaredTensor(model, port)?.dims
    if (!dims || !declared) return false
    if (declared.length === 0) return dims.length > 0
    return declared.some((dim, i) => {
      if (typeof dim !== 'string' || i >= dims.length) return false
      if (!sizes.has(dim)) sizes.set(dim, dims[i])
      return sizes.get(dim) !== dims[i]
    })
  })
}
