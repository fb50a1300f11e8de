import { derive } from '../../../src/graph/derive.ts'
import type { Attribute, Constant, Graph, Model, Node } from '../../../src/graph/graph.ts'
import { gather } from '../../../src/onnx/write/message.ts'
import { type OnnxWriteOptions, writeOnnx } from '../../../src/onnx/write/write.ts'

/** The bytes of a model as it is written. */
export const written = (model: Model, options?: OnnxWriteOptions): Uint8Array => gather(writeOnnx(model, options).model)

/** A model with other lists and maps of the same parts everywhere, so that no message is copied as a whole. */
export function takenApart(model: Model): Model {
  return derive(model, {
    graph: graphApart(model.graph),
    functions: new Map(
      [...model.functions].map(([key, fn]) => [
        key,
        derive(fn, { graph: derive(fn.graph, { nodes: fn.graph.nodes.map(nodeApart) }) })
      ])
    )
  })
}

const graphApart = (graph: Graph): Graph =>
  derive(graph, {
    inputs: [...graph.inputs],
    outputs: [...graph.outputs],
    initializers: new Map(graph.initializers),
    values: new Map(graph.values),
    nodes: graph.nodes.map(nodeApart)
  })

const nodeApart = (node: Node): Node =>
  derive(node, {
    inputs: [...node.inputs],
    outputs: [...node.outputs],
    attributes: new Map(
      [...node.attributes].map(([name, attribute]): [string, Attribute] => [
        name,
        attribute.kind === 'graph' ? derive(attribute, { value: graphApart(attribute.value) }) : attribute
      ])
    )
  })

/** The same model without its file: what is written then comes from the types of the graph alone. */
export const withoutFile = (model: Model): Model => ({ ...model, graph: bodyWithoutFile(model.graph) })

const bodyWithoutFile = (graph: Graph): Graph => ({
  ...graph,
  inputs: graph.inputs.map(port => ({ ...port })),
  outputs: graph.outputs.map(port => ({ ...port })),
  values: new Map(
    [...graph.values].map(([id, value]) => [
      id,
      {
        id,
        name: value.name,
        names: value.names,
        place: value.place,
        ...(value.declared && { declared: value.declared })
      }
    ])
  ),
  initializers: new Map([...graph.initializers].map(([name, constant]) => [name, constantWithoutFile(constant)])),
  nodes: graph.nodes.map(node => ({
    ...node,
    place: node.place,
    attributes: new Map(
      [...node.attributes].map(([name, attribute]): [string, Attribute] => [name, attributeWithoutFile(attribute)])
    )
  }))
})

const attributeWithoutFile = (attribute: Attribute): Attribute =>
  attribute.kind === 'graph'
    ? { kind: 'graph', value: bodyWithoutFile(attribute.value) }
    : attribute.kind === 'tensor'
      ? { kind: 'tensor', value: constantWithoutFile(attribute.value) }
      : { ...attribute }

const constantWithoutFile = (constant: Constant): Constant => ({
  type: constant.type,
  dims: constant.dims,
  byteLength: constant.byteLength,
  place: constant.place,
  read: () => constant.read()
})

/** What the types of a graph say of a model, constants with their elements. */
export const contentOf = (model: Model): unknown => ({
  irVersion: model.irVersion,
  opsets: model.opsets,
  metadata: model.metadata,
  producer: model.producer,
  graph: graphContent(model.graph),
  functions: [...model.functions].map(([key, fn]) => [key, fn.attributes, fn.opsets, graphContent(fn.graph)])
})

const graphContent = (graph: Graph): unknown => ({
  name: graph.name,
  inputs: graph.inputs.map(({ name, declared }) => [name, declared]),
  outputs: graph.outputs.map(({ name, declared }) => [name, declared]),
  values: new Map([...graph.values].map(([id, { declared }]) => [id, declared])),
  initializers: new Map([...graph.initializers].map(([name, constant]) => [name, elementsOf(constant)])),
  nodes: graph.nodes.map(({ type, domain, version, overload, name, inputs, outputs, attributes }) => [
    [type, domain, version, overload, name, inputs, outputs],
    [...attributes].map(([key, attribute]) => [key, attribute.kind, attributeContent(attribute)])
  ])
})

const attributeContent = (attribute: Attribute): unknown =>
  attribute.kind === 'graph'
    ? graphContent(attribute.value)
    : attribute.kind === 'graphs'
      ? attribute.value.map(graphContent)
      : attribute.kind === 'tensor'
        ? elementsOf(attribute.value)
        : attribute.kind === 'tensors'
          ? attribute.value.map(elementsOf)
          : attribute.value

function elementsOf(constant: Constant): unknown {
  try {
    const { type, dims, data } = constant.read()
    return [type, dims, Array.isArray(data) ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength)]
  } catch (error) {
    return [constant.type, constant.dims, String(error)]
  }
}
