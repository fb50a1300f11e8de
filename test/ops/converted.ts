import { registryWith } from '../../src/built-in.ts'
import { inDialect } from '../../src/convert/dialect.ts'
import { fail } from '../../src/errors.ts'
import type { Constant, Model } from '../../src/graph/graph.ts'
import { defaultLimits } from '../../src/graph/limits.ts'
import { check, InferenceSession } from '../../src/index.ts'
import { ALL_CONVERSIONS } from '../../src/ops/conversions.ts'
import type { DType } from '../../src/tensor/dtype.ts'
import { toDoubles } from '../../src/tensor/elements.ts'
import { isTensor, type Tensor, type Value } from '../../src/tensor/tensor.ts'
import { callOf, type CallOptions, type Kind } from './harness.ts'

export interface ConvertedOptions extends CallOptions {
  /** Positions of inputs that are constants of the model. */
  readonly constants?: readonly number[]
  /** Whether the model leaves open what the dims of its inputs are. */
  readonly isDynamic?: boolean
  /** The opset of the other dialect; where it is left out, the newest that is needed. */
  readonly writtenOpset?: number
}

/** A model of one node, whose inputs are those of the model where they are no constants. */
export function modelOfNode(
  kind: Kind,
  inputs: readonly (Tensor | undefined)[],
  { constants = [], isDynamic = false, ...options }: ConvertedOptions = {}
): Model {
  const { node } = callOf(kind, inputs, options)
  const given = inputs.flatMap((tensor, i) =>
    tensor ? [{ id: `in${i}`, tensor, isConstant: constants.includes(i) }] : []
  )
  const declared = ({ type, dims }: Tensor): { kind: 'tensor'; type: DType; dims: (number | null)[] } => ({
    kind: 'tensor',
    type,
    dims: dims.map(dim => (isDynamic ? null : dim))
  })
  const port = (id: string, tensor?: Tensor): Model['graph']['inputs'][number] => ({
    name: id,
    aliases: [],
    value: id,
    ...(tensor && { declared: declared(tensor) }),
    place: {}
  })
  const constant = (tensor: Tensor): Constant => ({
    type: tensor.type,
    dims: tensor.dims,
    byteLength: 0,
    place: {},
    read: () => tensor
  })
  const outputs = node.outputs.map(id => id ?? fail('internal', 'all outputs have names'))
  const [dialect, , opset] = kind
  return {
    dialect,
    file: 'model',
    irVersion: 10,
    opsets: new Map(dialect === 'onnx' ? [['ai.onnx', opset]] : []),
    producer: '',
    graph: {
      dialect,
      name: 'test',
      path: '',
      inputs: given.flatMap(({ id, tensor, isConstant }) => (isConstant ? [] : [port(id, tensor)])),
      outputs: outputs.map(id => port(id)),
      nodes: [node],
      values: new Map(
        [...given.map(({ id }) => id), ...outputs].map(id => [id, { id, name: id, names: [id], place: {} }])
      ),
      initializers: new Map(
        given.flatMap(({ id, tensor, isConstant }) => (isConstant ? [[id, constant(tensor)]] : []))
      ),
      findings: []
    },
    functions: new Map(),
    metadata: new Map(),
    weightBytes: 0,
    parameters: 0,
    notes: [],
    limits: defaultLimits(),
    locate: place => place
  }
}

/** The model in the other dialect. */
export const inOther = (model: Model, opset?: number): Model =>
  inDialect(model, model.dialect === 'onnx' ? 'openvino' : 'onnx', registryWith(), ALL_CONVERSIONS, opset)

/** Names of the operators of a model, in order, without inputs, outputs and constants. */
export const typesOf = (model: Model): string[] =>
  model.graph.nodes.map(({ type }) => type).filter(type => !['Parameter', 'Result', 'Const'].includes(type))

/** Runs a node in its own dialect and said in the other one; the largest difference of any two numbers. */
export async function differenceInOther(
  kind: Kind,
  inputs: readonly (Tensor | undefined)[],
  options: ConvertedOptions = {}
): Promise<number> {
  const model = modelOfNode(kind, inputs, options)
  const other = inOther(model, options.writtenOpset)
  const fault = check(other).findings.find(({ severity }) => severity === 'error')
  if (fault) throw new Error(fault.message)
  const feeds = Object.fromEntries(
    inputs.flatMap((tensor, i) => (tensor && !(options.constants ?? []).includes(i) ? [[`in${i}`, tensor]] : []))
  )
  const [own, said] = [await new InferenceSession(model).run(feeds), await new InferenceSession(other).run(feeds)]
  return Math.max(...Object.keys(own).map(name => difference(own[name], said[name])))
}

function difference(a: Value, b: Value | undefined): number {
  if (!isTensor(a) || b === undefined || !isTensor(b)) throw new Error('there is no tensor')
  if (a.type !== b.type || a.dims.join() !== b.dims.join())
    throw new Error(`${b.type} [${b.dims.join(', ')}] for ${a.type} [${a.dims.join(', ')}]`)
  if (a.type === 'string' || a.type === 'bool')
    return JSON.stringify([...a.data]) === JSON.stringify([...b.data]) ? 0 : 1
  const [x, y] = [toDoubles(a), toDoubles(b)]
  return Math.max(0, ...x.map((value, i) => (Object.is(value, y[i]) ? 0 : Math.abs(value - y[i]))))
}
