import { altered, type Call } from '../bind/call.ts'
import type { RowsFirst } from '../kernels/attention/heads.ts'
import { rotation } from '../op-kit/rotation.ts'
import { mergedPatterns } from './fuse-merged.ts'
import { fusedCall } from './fuse.ts'
import { areDims, isFloat32, operandOf, type PlanGraph, positionOf, shapeOf } from './graph.ts'
import type { Pattern, PatternCall } from './match.ts'
import { numbersOf, shared, standardCall } from './patterns.ts'

// Attention and rotary positions read and write heads where the products beside them have them, `[batch, rows, heads,
// size]`, instead of a transposed copy.

/** The order of axes of a Transpose, where it is known and given. */
function orderOf(graph: PlanGraph, call: Call): readonly number[] | undefined {
  const order = numbersOf(graph, call, 'order')
  return order === undefined || order.length === 0 || order[0] === undefined ? undefined : order
}

/** A Transpose whose order of axes is known. */
const transposeOf = (data: string): PatternCall => ({
  ops: ['Transpose'],
  where: (call, graph) => orderOf(graph, call) !== undefined,
  reads: { data }
})

/** A Transpose of what a Transpose gives as one, or as none where axes come back to where they were. */
export const transposesPattern: Pattern = {
  name: 'transposes',
  calls: {
    first: shared(transposeOf('x')),
    second: transposeOf('first')
  },
  root: 'second',
  fuse({ calls, values }, graph) {
    const [first, second] = ['first', 'second'].map(label => calls.get(label)!.call)
    const inner = orderOf(graph, first)!
    const order = orderOf(graph, second)!.map(axis => inner[axis])
    const x = values.get('x')!
    if (order.some((axis, i) => axis !== i))
      return { call: fusedCall(second, second.op, { data: x }, { ...second.known, order }) }
    const call = standardCall(graph, second, { type: 'Identity', opset: 13, inputs: [x] })
    return call && { call }
  }
}

/** A Transpose of these axes. */
const turnOf = (data: string, ...axes: readonly number[]): PatternCall => ({
  ops: ['Transpose'],
  where(call, graph) {
    const order = orderOf(graph, call)
    return order?.length === axes.length && order.every((axis, i) => axis === axes[i])
  },
  reads: { data }
})

/**
 * A Transpose of rows and columns of matrices whose batches are one axis, made of several and parted again, as a
 * Transpose of the last two axes: PyTorch's newer exporter swaps the keys of each attention so.
 */
export const matricesPattern: Pattern = {
  name: 'transposes',
  calls: {
    merged: { ops: ['Reshape'], reads: { data: 'x' } },
    turned: turnOf('merged', 0, 2, 1),
    parted: { ops: ['Reshape'], reads: { data: 'turned' } }
  },
  root: 'parted',
  guard({ calls, values }, graph) {
    const of = shapeOf(graph, values.get('x')) ?? []
    const [merged, parted] = ['merged', 'parted'].map(label => shapeOf(graph, calls.get(label)!.call.outputs[0]) ?? [])
    const [rows, columns] = of.slice(-2)
    return (
      of.length > 2 && areDims(merged.slice(1), [rows, columns]) && areDims(parted, [...of.slice(0, -2), columns, rows])
    )
  },
  fuse({ calls, values }, graph) {
    const { op, known } = calls.get('turned')!.call
    const x = values.get('x')!
    const axes = shapeOf(graph, x)!.map((_, axis) => axis)
    const order = [...axes.slice(0, -2), ...axes.slice(-2).toReversed()]
    return { call: fusedCall(calls.get('parted')!.call, op, { data: x }, { ...known, order }) }
  }
}

const ATTENTION = ['ScaledDotProductAttention']
const OPERANDS = ['query', 'key', 'value'] as const

/** A Transpose whose result other calls may read, too. */
const turning = (...axes: readonly number[]): PatternCall => shared(turnOf('x', ...axes))

const rowsFirstOf = (call: Call): RowsFirst => call.known.rowsFirst as RowsFirst

/** Attention of rank 4 one of whose operands has heads before rows. */
const attentionOf = (name: (typeof OPERANDS)[number], keysInColumns?: boolean): PatternCall => ({
  ops: ATTENTION,
  where: (call, graph) =>
    rowsFirstOf(call)[name] !== true &&
    (keysInColumns === undefined || call.known.keysInColumns === keysInColumns) &&
    shapeOf(graph, call.outputs[0])?.length === 4,
  reads: { [name]: 'turned' }
})

/** Attention that reads an operand as it was before its rows and heads were swapped. */
const operandPattern = (
  name: (typeof OPERANDS)[number],
  turned: PatternCall,
  keysInColumns: boolean | undefined,
  known: Readonly<Record<string, unknown>> = {}
): Pattern => ({
  name: 'attention',
  calls: { turned, attention: attentionOf(name, keysInColumns) },
  root: 'attention',
  fuse({ calls, values }) {
    const { call } = calls.get('attention')!
    const inputs = call.inputs.with(positionOf(call, name), values.get('x'))
    const rowsFirst = { ...rowsFirstOf(call), [name]: true }
    return { call: altered(call, { inputs, known: { ...call.known, ...known, rowsFirst } }) }
  }
})

/** Attention whose result has its rows and heads swapped. */
const resultPattern: Pattern = {
  name: 'attention',
  calls: {
    attention: { ops: ATTENTION, where: call => rowsFirstOf(call).result !== true },
    turned: turnOf('attention', 0, 2, 1, 3)
  },
  root: 'turned',
  fuse({ calls }) {
    const { call } = calls.get('attention')!
    const { outputs, node } = calls.get('turned')!.call
    const rowsFirst = { ...rowsFirstOf(call), result: true }
    return { call: altered(call, { node, outputs, known: { ...call.known, rowsFirst } }) }
  }
}

/** OpenVINO gives attention that has a scale and no mask a mask of one 0. */
const zeroMaskPattern: Pattern = {
  name: 'attention',
  calls: {
    attention: {
      ops: ATTENTION,
      where: call => operandOf(call, 'further') === undefined,
      reads: { mask: 'zero', query: 'query' }
    }
  },
  scalars: { zero: 0 },
  root: 'attention',
  guard({ calls, values }, graph) {
    const { call } = calls.get('attention')!
    const rank = shapeOf(graph, values.get('query'))?.length
    return (
      isFloat32(graph, operandOf(call, 'mask')) &&
      rank !== undefined &&
      rank === shapeOf(graph, call.outputs[0])?.length &&
      numbersOf(graph, call, 'scale') !== undefined
    )
  },
  fuse({ calls }, graph) {
    const { call } = calls.get('attention')!
    const inputs = Object.fromEntries(OPERANDS.map(name => [name, operandOf(call, name)]))
    const [scale] = numbersOf(graph, call, 'scale')!
    return { call: fusedCall(call, call.op, inputs, { ...call.known, scale }) }
  }
}

const rotationPattern: Pattern = {
  name: 'rotary positions',
  calls: {
    turned: turning(0, 2, 1, 3),
    rotation: { ops: [rotation.name], where: ({ known }) => known.rowsFirst === false, reads: { x: 'turned' } }
  },
  root: 'rotation',
  fuse({ calls, values }) {
    const { call } = calls.get('rotation')!
    const inputs = call.inputs.with(positionOf(call, 'x'), values.get('x'))
    return { call: altered(call, { inputs, known: { ...call.known, rowsFirst: true } }) }
  }
}

/** Transposes, and Reshapes of batches and heads, around attention and rotary positions. */
export const layoutPatterns: readonly Pattern[] = [
  zeroMaskPattern,
  ...mergedPatterns,
  ...OPERANDS.map(name => operandPattern(name, turning(0, 2, 1, 3), name === 'key' ? false : undefined)),
  // Keys that one Transpose brings into columns.
  operandPattern('key', turning(0, 2, 3, 1), true, { keysInColumns: false }),
  resultPattern,
  rotationPattern
]
