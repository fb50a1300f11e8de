import { type InferenceSession, type Model, propagate, type SessionOptions, shapes } from 'nodewise'
import type { InferenceSession as Common } from 'onnxruntime-common'

type Ports = InferenceSession['inputMetadata']
type Port = Ports[number]

/** What a session tells of ports, as `onnxruntime-common` says it: a dim that has neither size nor name is empty. */
export const metadataOf = (ports: Ports): Common.ValueMetadata[] =>
  ports.map(port =>
    port.isTensor && port.type !== undefined
      ? {
          name: port.name,
          isTensor: true,
          type: port.type as Common.TensorValueMetadata['type'],
          shape: (port.shape ?? []).map(dim => (dim === '?' ? '' : dim))
        }
      : { name: port.name, isTensor: false }
  )

/**
 * What a session tells of its outputs. As in onnxruntime, a type or dims that the file leaves out are what follows from
 * the inputs.
 */
export function outputMetadataOf(model: Model, { ops }: SessionOptions, ports: Ports): Common.ValueMetadata[] {
  const isSaid = (port: Port): boolean => (port.isTensor ? port.type && port.shape : port.declared) !== undefined
  if (ports.every(isSaid)) return metadataOf(ports)
  const { facts } = propagate(model, ops && { ops })
  return metadataOf(
    ports.map((port, i): Port => {
      const fact = facts.get(model.graph.outputs[i].value)
      if (isSaid(port) || fact?.kind !== 'tensor' || !(port.isTensor || port.declared === undefined)) return port
      const type = (port.isTensor ? port.type : undefined) ?? fact.type
      const shape = (port.isTensor ? port.shape : undefined) ?? fact.shape?.map(dimOf)
      return { name: port.name, isTensor: true, ...(type && { type }), ...(shape && { shape }) }
    })
  )
}

/** A dim as a file would declare it: what is computed of others has no name. */
function dimOf(dim: shapes.Dim): number | string {
  if (typeof dim === 'number') return dim
  const text = shapes.printDim(dim)
  return /^[A-Za-z_]\w*$/.test(text) ? text : '?'
}
