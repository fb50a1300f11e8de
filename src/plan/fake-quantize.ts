import { altered, type Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { tensorFact } from '../shapes/fact.ts'
import { Tensor } from '../tensor/tensor.ts'
import { type CodeOps, codeOpsIn, codesOf, dequantizing, type Grid, gridOfRange, quantizing } from './code-ops.ts'
import {
  isFloat32,
  operandOf,
  type PlanCall,
  planCall,
  type PlanGraph,
  type PlanItem,
  scalarOf,
  shapeOf
} from './graph.ts'
import type { Pattern } from './match.ts'
import { numbersAsCodes } from './numbers-of-codes.ts'
import type { Pass } from './pass.ts'
import { isNamed } from './patterns.ts'
import { sinkNumbers } from './sink.ts'

const LEVELS = 256
const isFake = isNamed('FakeQuantize')

/** By the DequantizeLinear that was made of them. */
const origins = new WeakMap<Call, Call>()

/**
 * FakeQuantize of 256 levels as QuantizeLinear and DequantizeLinear, and nodes that make numbers of constant codes
 * (Convert, Subtract, Multiply) as DequantizeLinear, so that the patterns of quantized ONNX models serve IR. Bounds are
 * those of the whole tensor, and zero is one of the levels. What no pattern takes is put back by
 * {@link fakeQuantizePattern}.
 */
export const stateCodes: Pass = {
  name: 'state codes',
  requires: ['prune'],
  ops: ['FakeQuantize'],
  run(graph) {
    const fakes = graph.calls.filter(({ call }) => isFake(call))
    if (graph.isObserved || fakes.length === 0) return false
    const ops = codeOpsIn(graph)
    if (ops === undefined) return false
    const by = new Map<PlanItem, readonly PlanCall[]>()
    for (const item of fakes) {
      const calls = statedCalls(graph, item.call, ops)
      if (calls) by.set(item, calls)
    }
    if (by.size === 0) return false
    graph.spread(by)
    const made = new Map([...by.values()].map(([, { call }]) => [call.outputs[0]!, codesOf(call)]))
    sinkNumbers(graph, made, ops)
    numbersAsCodes(graph, new Set(made.keys()), ops)
    return true
  }
}

/** QuantizeLinear and DequantizeLinear in the place of FakeQuantize; undefined where bytes cannot hold its levels. */
function statedCalls(graph: PlanGraph, call: Call, ops: CodeOps): readonly PlanCall[] | undefined {
  const [to, x] = [call.outputs[0], operandOf(call, 'x')]
  if (to === undefined || x === undefined || graph.constantOf(x) || call.known.levels !== LEVELS) return undefined
  if (!isFloat32(graph, to)) return undefined
  const [from, into] = ['input', 'output'].map(side => gridOf(graph, call, side))
  if (from === undefined || into === undefined) return undefined
  const codes = `${to}\0codes`
  graph.describe(codes, tensorFact('uint8', shapeOf(graph, to)))
  const [given, made] = [from, into].map((grid, i) => addGrid(graph, `${to}\0${i}`, grid))
  const quantized = altered(quantizing(call, ops.quantize, { x, ...given }), { outputs: [codes] })
  const numbers = altered(dequantizing(call, ops, { codes, ...made }), { outputs: [to] })
  origins.set(numbers, call)
  return [planCall(quantized), planCall(numbers)]
}

/** The bytes of a range of FakeQuantize; undefined where its bounds are not known, or zero is none of the levels. */
function gridOf(graph: PlanGraph, call: Call, side: string): Grid | undefined {
  const [low, high] = ['Low', 'High'].map(bound => scalarOf(graph, operandOf(call, side + bound)))
  return low === undefined || high === undefined ? undefined : gridOfRange(low, high, LEVELS)
}

const addGrid = (graph: PlanGraph, name: string, { scale, zero }: Grid): Record<'scale' | 'zero', ValueId> => ({
  scale: graph.addConstant(`${name}\0scale`, new Tensor('float32', [scale], [])),
  zero: graph.addConstant(`${name}\0zero`, new Tensor('uint8', [zero], []))
})

/** FakeQuantize again, where nothing else makes its codes or reads them. */
export const fakeQuantizePattern: Pattern = {
  name: 'fake quantization',
  calls: {
    codes: { ops: ['QuantizeLinear'] },
    numbers: { ops: ['DequantizeLinear'], where: call => origins.has(call), reads: { x: 'codes' } }
  },
  root: 'numbers',
  fuse({ calls }) {
    const [codes, { call }] = [calls.get('codes')!.call, calls.get('numbers')!]
    const origin = origins.get(call)!
    const inputs: readonly (ValueId | undefined)[] = origin.inputs.with(0, operandOf(codes, 'x'))
    return { call: { ...origin, inputs } }
  }
}
