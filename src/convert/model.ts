import { allGraphs, type Constant, type Graph, type Model } from '../graph/graph.ts'
import { elementCount } from '../tensor/tensor.ts'
import type { Making } from './scope.ts'

/** The version of OpenVINO's IR that is written. */
const OPENVINO_IR = 11

/** Versions of ONNX's IR by the first opset that came out with each; runtimes that know the opset read it. */
const IR_VERSIONS = [
  [25, 13],
  [24, 12],
  [23, 11],
  [21, 10],
  [19, 9],
  [15, 8],
  [12, 7],
  [11, 6],
  [10, 5],
  [9, 4]
] as const

/** The version of ONNX's IR that came out with an opset; 4, the first whose constants need not be inputs, for older. */
export const irVersionOf = (opset: number): number => IR_VERSIONS.find(([since]) => since <= opset)?.[1] ?? 4

/** The model of a finished graph. */
export function modelOf(source: Model, graph: Graph, { dialect, opset, domains }: Making): Model {
  const model: Model = {
    dialect,
    file: source.file,
    irVersion: dialect === 'onnx' ? irVersionOf(opset) : OPENVINO_IR,
    opsets: new Map(),
    producer: 'nodewise',
    graph: { ...graph, name: source.graph.name },
    functions: new Map(),
    metadata: dialect === 'onnx' ? new Map() : new Map(source.metadata),
    weightBytes: 0,
    parameters: 0,
    notes: [],
    limits: source.limits,
    locate: place => place
  }
  const constants = new Set<Constant>()
  const opsets = new Map<string, number>(dialect === 'onnx' ? [['ai.onnx', opset], ...domains] : [])
  for (const { nodes, initializers } of allGraphs(model)) {
    for (const constant of initializers.values()) constants.add(constant)
    for (const { constant, version } of nodes) {
      if (constant) constants.add(constant)
      if (dialect === 'openvino') opsets.set(version, Number(/^opset(\d+)$/.exec(version)?.[1] ?? 0))
    }
  }
  const all = [...constants]
  return {
    ...model,
    opsets,
    weightBytes: all.reduce((sum, { byteLength }) => sum + byteLength, 0),
    parameters: all.reduce((sum, { dims }) => sum + elementCount(dims), 0)
  }
}
