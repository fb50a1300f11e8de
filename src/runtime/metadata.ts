import { type DeclaredDim, declaredOf, type DeclaredType, type GraphPort, type Model } from '../graph/graph.ts'
import type { DType } from '../tensor/dtype.ts'
import { portType } from './graph-ports.ts'

/** What an input or output is declared to be, in the words of `onnxruntime-common`. */
export type PortInfo = TensorPort | OtherPort

interface Port {
  readonly name: string
  /** All that the file declares of it: sequences, optionals and intervals of dims too. */
  readonly declared?: DeclaredType
}

/** An input or output that is a tensor. */
export interface TensorPort extends Port {
  readonly isTensor: true
  /** Element type that callers give and get; absent where the file does not say it. */
  readonly type?: DType
  /**
   * Sizes of the axes. An axis whose size is not fixed has its name, `1..10` for an interval, or `?`; absent where the
   * rank is not known.
   */
  readonly shape?: readonly (number | string)[]
}

/** An input or output that is a sequence, an optional or a map, or of which the file says nothing. */
export interface OtherPort extends Port {
  readonly isTensor: false
}

/** What a session tells about one of its inputs or outputs. */
export function describePort(model: Model, port: GraphPort, side: 'input' | 'output'): PortInfo {
  const declared = declaredOf(model.graph, port)
  const { name } = port
  if (declared?.kind !== 'tensor') return { name, isTensor: false, ...(declared && { declared }) }
  const { type, dims } = declared
  return {
    name,
    isTensor: true,
    ...(type !== undefined && { type: portType(model, side, type) }),
    ...(dims && { shape: dims.map(printedDim) }),
    declared
  }
}

/** A declared dim as callers see it. */
export function printedDim(dim: DeclaredDim): number | string {
  if (dim === null) return '?'
  return typeof dim === 'object' ? `${dim.min}..${dim.max === Infinity ? '' : dim.max}` : dim
}
