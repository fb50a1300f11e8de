import { altered, type Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { drain } from '../kernels/core/pace.ts'
import { byteConcat } from '../op-kit/byte-concat.ts'
import { byteTable, tableOfCodes, type TableParams, type TablePart } from '../op-kit/byte-table.ts'
import { isConcrete } from '../shapes/dim.ts'
import { product, type Tensor, withDims } from '../tensor/tensor.ts'
import { codesOf } from './code-ops.ts'
import { DEQUANTIZED, isAlong, quantizedAfter } from './fuse-quantized.ts'
import { fusedCall } from './fuse.ts'
import {
  isPlanCall,
  knownTensor,
  operandOf,
  type PlanCall,
  type PlanGraph,
  type PlanItem,
  scalarOf,
  shapeOf,
  typeOf
} from './graph.ts'
import { isMeant, type Match, type Pattern, type PatternCall } from './match.ts'
import { binaryOf, standardCall } from './patterns.ts'

/** Elements of a result from which a table pays, which takes the time of 100,000 elements to make. */
const MIN_ELEMENTS = 1 << 14

/** Elementwise operators of one operand, `x`; their other operands are constants. */
export const UNARY: readonly string[] = [
  ...['Relu', 'Clip', 'LeakyRelu', 'Elu', 'Selu', 'Celu', 'Sigmoid', 'HSigmoid', 'HardSigmoid', 'HardSwish', 'Tanh'],
  ...['Gelu', 'Silu', 'Swish', 'Mish', 'Softplus', 'Softsign', 'ThresholdedRelu'],
  ...['Abs', 'Neg', 'Sqrt', 'Reciprocal', 'Exp', 'Log', 'Erf', 'Floor', 'Ceil', 'Round']
]

/** Elementwise operators of two operands. */
export const BINARY: readonly string[] = ['Add', 'Sub', 'Mul', 'Div', 'Maximum', 'Minimum']

const unary = (...readings: readonly string[]): PatternCall => ({
  ops: UNARY,
  where: ({ dataDependent }) => dataDependent.length === 0,
  reads: readings.map(x => ({ x }))
})

/** An elementwise operator of two dequantized codes, perhaps with an activation, whose result is quantized. */
const tablePatterns: readonly Pattern[] = [
  ...BINARY.map(name =>
    tablePattern({ a: DEQUANTIZED, b: DEQUANTIZED, first: binaryOf(name, ['a', 'b']), second: unary('first') })
  )
]

function tablePattern(calls: Pattern['calls']): Pattern {
  return {
    name: 'table of codes',
    calls: { ...calls, result: quantizedAfter('first', 'second') },
    root: 'result',
    guard: ({ calls }, graph) => {
      const result = shapeOf(graph, calls.get('result')!.call.outputs[0])
      if (result && isConcrete(result) && product(result) < MIN_ELEMENTS) return false
      return (
        ['a', 'b', 'result'].every(label => isSettled(graph, calls.get(label)!.call)) &&
        constantsOf(graph, calls.get('second')?.call) !== undefined
      )
    },
    fuse: (match, graph) => ({ call: tableCall(match, graph) })
  }
}

/** Whether a call has one scale and zero point, which are constants. */
export const isSettled = (graph: PlanGraph, call: Call): boolean =>
  isAlong(graph, call, undefined) &&
  ['scale', 'zero'].every(name => {
    const id = operandOf(call, name)
    return id === undefined || graph.constantOf(id) !== undefined
  })

/** Operands of an activation beside `x`; undefined where one is no known constant. */
function constantsOf(graph: PlanGraph, call: Call | undefined): Readonly<Record<string, Tensor>> | undefined {
  const constants: Record<string, Tensor> = {}
  if (call === undefined) return constants
  for (const { name } of call.operands.slice(1)) {
    const id = operandOf(call, name)
    const value = knownTensor(graph, id)
    if (id !== undefined && value === undefined) return undefined
    if (value) constants[name] = value
  }
  return constants
}

function tableCall({ calls }: Match, graph: PlanGraph): Call {
  const parts: TablePart[] = []
  const inputs: Record<string, ValueId | undefined> = {}
  const add = (call: Call, own: TablePart['inputs']): number =>
    parts.push({ op: call.op, parameters: call.known, inputs: own, type: typeOf(graph, call.outputs[0])! }) - 1
  const positions: Record<string, number> = {}
  for (const label of ['a', 'b']) {
    const { call } = calls.get(label)!
    const { codes, scale, zero } = codesOf(call)
    Object.assign(inputs, { [label]: codes, [`${label}Scale`]: scale, [`${label}Zero`]: zero })
    positions[label] = add(call, { x: label, ...quantization(label, zero) })
  }
  const first = calls.get('first')!.call
  const second = calls.get('second')?.call
  let last = add(first, positions)
  if (second) last = add(second, { x: last, ...constantsOf(graph, second) })
  const result = calls.get('result')!.call
  const [yScale, yZero] = [operandOf(result, 'scale'), operandOf(result, 'zero')]
  add(result, { x: last, ...quantization('y', yZero) })
  const types = { a: typeOf(graph, inputs.a)!, b: typeOf(graph, inputs.b) }
  const parameters: TableParams = { parts, types }
  return fusedCall(result, byteTable, { ...inputs, yScale, yZero }, { ...parameters })
}

const quantization = (label: string, zero: ValueId | undefined): Readonly<Record<string, string>> => ({
  scale: `${label}Scale`,
  ...(zero !== undefined && { zero: `${label}Zero` })
})

/** Operators that move elements, or choose the highest, with the operand that holds them. */
export const MOVING: ReadonlyMap<string, string> = new Map([
  ...[
    'Reshape',
    'Transpose',
    'Squeeze',
    'Unsqueeze',
    'Slice',
    'DepthToSpace',
    'SpaceToDepth',
    'ShuffleChannels',
    'Expand',
    'Tile'
  ].map((name): [string, string] => [name, 'data']),
  ['Flatten', 'input'],
  ['Identity', 'input'],
  ['MaxPool', 'x'],
  ['Resize', 'x'],
  ['Interpolate', 'x']
])

/** Whether a call only moves elements: Resize may take means of them, or put a number where there are none. */
export const isMovement = ({ op, known, outputs }: Call, graph: PlanGraph): boolean =>
  outputs.slice(1).every(id => id === undefined || !graph.isRead(id)) && (RESIZING[op.name]?.(known) ?? true)

const RESIZING: Readonly<Record<string, ((known: Call['known']) => boolean) | undefined>> = {
  Resize: ({ mode, coordinates }) => mode === 'nearest' && coordinates !== 'tf_crop_and_resize',
  Interpolate: ({ mode, begin, end }) => mode === 'nearest' && [begin, end].flat().every(pad => pad === 0)
}

/** A call without the schema of its version, by which the operator may move no bytes. */
export const onBytes = (call: Call): Call => altered(call, { schema: undefined, inputTypes: [] })

/** A movement of numbers that are dequantized and quantized alike is one of their codes. */
const movingPattern: Pattern = {
  name: 'codes moved',
  calls: {
    a: DEQUANTIZED,
    moved: {
      ops: [...MOVING.keys()],
      where: isMovement,
      reads: ({ op }) => ({ [MOVING.get(op.name)!]: 'a' })
    },
    result: quantizedAfter('moved')
  },
  root: 'result',
  guard: isMoved,
  fuse({ calls }) {
    const { codes } = codesOf(calls.get('a')!.call)
    const { call } = calls.get('moved')!
    const at = call.operands.find(({ name }) => name === MOVING.get(call.op.name))!.index
    const { outputs } = calls.get('result')!.call
    return { call: altered(onBytes(call), { inputs: call.inputs.with(at, codes), outputs }) }
  }
}

/** Numbers that are dequantized and quantized alike are their codes. */
const keptPattern: Pattern = {
  name: 'codes kept',
  calls: { a: DEQUANTIZED, result: quantizedAfter('a') },
  root: 'result',
  guard: isMoved,
  fuse({ calls }, graph) {
    const { codes } = codesOf(calls.get('a')!.call)
    const call = standardCall(graph, calls.get('result')!.call, { type: 'Identity', opset: 13, inputs: [codes] })
    return call && { call }
  }
}

/** Numbers that are dequantized, joined and quantized are codes that are joined, each of another scale by a table. */
const joiningPattern: Pattern = {
  name: 'codes joined',
  calls: { joined: { ops: ['Concat'] }, result: quantizedAfter('joined') },
  root: 'result',
  guard: ({ calls }, graph) =>
    isKnown(graph, calls.get('result')!.call) &&
    partsOf(graph, calls.get('joined')!.call, calls.get('result')!.call) !== undefined,
  fuse({ calls }, graph) {
    const [{ call }, result] = [calls.get('joined')!, calls.get('result')!.call]
    const parts = partsOf(graph, call, result)!
    const tables = parts.map(part => (isSame(graph, part, result) ? undefined : recodingOf(graph, part, result)))
    const inputs = parts.map(part => codesOf(part).codes)
    const known = { ...call.known, tables }
    const { outputs } = result
    return {
      call: altered(call, { op: byteConcat(call.op), known, schema: undefined, inputTypes: [], inputs, outputs })
    }
  }
}

/** The calls that dequantize what a Concat joins, from codes of the type of the result; undefined: not all do. */
function partsOf(graph: PlanGraph, { inputs }: Call, result: Call): readonly Call[] | undefined {
  const type = typeOf(graph, result.outputs[0])
  const parts = inputs.map(id => (id === undefined ? undefined : graph.makerOf(id)))
  const isPart = (item: PlanItem | undefined): item is PlanCall =>
    item !== undefined &&
    isPlanCall(item) &&
    isMeant(DEQUANTIZED, item.call, graph) &&
    isKnown(graph, item.call) &&
    typeOf(graph, operandOf(item.call, 'x')) === type
  return parts.every(isPart) ? parts.map(({ call }) => call) : undefined
}

/** Whether a call has one scale and zero point whose numbers are known. */
const isKnown = (graph: PlanGraph, call: Call): boolean =>
  isSettled(graph, call) &&
  ['scale', 'zero'].every(name => operandOf(call, name) === undefined || knownTensor(graph, operandOf(call, name)))

/** What DequantizeLinear and QuantizeLinear make of each code. */
function recodingOf(graph: PlanGraph, from: Call, to: Call): Tensor {
  const part = (call: Call, x: string | number): TablePart => {
    const inputs: Record<string, Tensor | string | number> = { x }
    for (const name of ['scale', 'zero']) {
      const value = knownTensor(graph, operandOf(call, name))
      if (value) inputs[name] = withDims(value, [])
    }
    return { op: call.op, parameters: call.known, inputs, type: typeOf(graph, call.outputs[0])! }
  }
  return drain(tableOfCodes([part(from, 'a'), part(to, 0)], typeOf(graph, operandOf(from, 'x'))!))
}

/** Whether what is dequantized is quantized alike. */
function isMoved({ calls }: Match, graph: PlanGraph): boolean {
  const [from, to] = [calls.get('a')!.call, calls.get('result')!.call]
  return isSettled(graph, from) && isSettled(graph, to) && isSame(graph, from, to)
}

/** Whether two calls have the same scale, above 0, and the same zero point for codes of the same type. */
export function isSame(graph: PlanGraph, from: Call, to: Call): boolean {
  if (typeOf(graph, operandOf(from, 'x')) !== typeOf(graph, to.outputs[0])) return false
  const [scale, other] = [from, to].map(call => numberOf(graph, call, 'scale'))
  const [zero, point] = [from, to].map(call =>
    operandOf(call, 'zero') === undefined ? 0 : numberOf(graph, call, 'zero')
  )
  return scale !== undefined && scale > 0 && scale === other && zero !== undefined && zero === point
}

const numberOf = (graph: PlanGraph, call: Call, operand: string): number | undefined =>
  scalarOf(graph, operandOf(call, operand))

/** What is done with codes instead of the numbers that they stand for, and gives the same codes. */
export const codePatterns: readonly Pattern[] = [...tablePatterns, movingPattern, keptPattern, joiningPattern]
