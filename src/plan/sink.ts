import { altered, type Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { tensorFact } from '../shapes/fact.ts'
import { type CodeOps, type Codes, dequantizing } from './code-ops.ts'
import { isMovement, MOVING, onBytes } from './fuse-codes.ts'
import { isPlanCall, operandOf, type PlanCall, type PlanGraph, type PlanItem, shapeOf, typeOf } from './graph.ts'
import { isNamed } from './patterns.ts'

const isConcat = isNamed('Concat')
const isSplit = isNamed('Split')
/** Operators that compute with codes, or make others of them, and the operands that are these. */
const TAKING: ReadonlyMap<string, string> = new Map([
  ['Conv', 'x'],
  ['MatMul', 'a'],
  ['Gemm', 'a'],
  ['QuantizeLinear', 'x']
])

/**
 * Numbers of codes that are moved before a convolution or a product reads them become codes that are moved: files
 * quantize once before MaxPool, Reshape, Concat or Split, and not again behind them.
 * @param made codes by the numbers that DequantizeLinear makes of them; what is moved is added
 */
export function sinkNumbers(graph: PlanGraph, made: Map<ValueId, Codes>, ops: CodeOps): void {
  const by = new Map<PlanItem, readonly PlanCall[]>()
  for (const item of graph.calls) {
    const { call } = item
    const results = resultsOf(call)
    if (results.some(id => graph.isOutside(id)) || !results.some(id => isWanted(graph, id))) continue
    const moved = movedCodes(graph, call, made)
    if (moved === undefined) continue
    const own = results.map((to): Codes => ({ ...moved.codes, codes: `${to}\0codes` }))
    const type = typeOf(graph, moved.codes.codes)
    own.forEach(({ codes }, i) => graph.describe(codes, tensorFact(type, shapeOf(graph, results[i]))))
    const moving = altered(onBytes(call), { inputs: moved.inputs, outputs: own.map(({ codes }) => codes) })
    const numbers = own.map((codes, i) => altered(dequantizing(call, ops, codes), { outputs: [results[i]] }))
    by.set(
      item,
      [moving, ...numbers].map(call => ({ ...item, call }))
    )
    own.forEach((codes, i) => made.set(results[i], codes))
  }
  graph.spread(by)
}

/** What a call makes of numbers; MaxPool gives positions beside. */
const resultsOf = (call: Call): ValueId[] =>
  (isSplit(call) ? call.outputs : call.outputs.slice(0, 1)).filter(id => id !== undefined)

/** The inputs of a call that moves codes instead of numbers; undefined where it computes, or codes differ. */
function movedCodes(
  graph: PlanGraph,
  call: Call,
  made: ReadonlyMap<ValueId, Codes>
): { readonly inputs: Call['inputs']; readonly codes: Codes } | undefined {
  if (isConcat(call)) {
    const parts = call.inputs.map(id => (id === undefined ? undefined : made.get(id)))
    const [first] = parts
    const areAlike = parts.every(part => part && first && isSame(graph, part, first))
    return first && areAlike ? { inputs: parts.map(part => part!.codes), codes: first } : undefined
  }
  const operand = movedOperand(graph, call)
  const id = operand === undefined ? undefined : operandOf(call, operand)
  const codes = id === undefined ? undefined : made.get(id)
  return codes && { inputs: call.inputs.with(call.inputs.indexOf(id), codes.codes), codes }
}

function movedOperand(graph: PlanGraph, call: Call): string | undefined {
  if (isSplit(call)) return call.outputs.every(id => id !== undefined) ? 'data' : undefined
  return isNamed(...MOVING.keys())(call) && isMovement(call, graph) ? MOVING.get(call.op.name) : undefined
}

/** Whether two quantizations are constants of the same numbers. */
const isSame = (graph: PlanGraph, a: Codes, b: Codes): boolean =>
  (['scale', 'zero'] as const).every(name => {
    const [one, other] = [a[name], b[name]].map(id => id !== undefined && graph.constantOf(id))
    return one === other || (one && other && 'data' in one && 'data' in other && one.data[0] === other.data[0])
  }) && typeOf(graph, a.codes) === typeOf(graph, b.codes)

/** Whether a value is read, perhaps moved once more, by what computes with codes. */
function isWanted(graph: PlanGraph, id: ValueId): boolean {
  return [...graph.readersOf(id)].some(reader => {
    if (!isPlanCall(reader)) return false
    const { call } = reader
    const operand = TAKING.get(call.op.name)
    if (operand !== undefined) return operandOf(call, operand) === id
    const moves = isConcat(call) || isSplit(call) || operandOf(call, MOVING.get(call.op.name) ?? '') === id
    return moves && resultsOf(call).some(to => isWanted(graph, to))
  })
}
