import { altered } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { FACTORS, joinedProducts } from '../op-kit/joined.ts'
import { fusedCall } from './fuse.ts'
import { isFloat32, nodesOfAll, operandOf, type PlanCall, type PlanGraph } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed, isPlainProduct } from './patterns.ts'

/** Columns of a panel, as kernels pack factors: whole panels can lie one after the other. */
const PANEL = 8

/**
 * Products of one value by several constants, such as queries, keys and values of the same rows, are one call: a kernel
 * may read the constants in one go. Short products cost as much beside the reading.
 */
export const joinProducts: Pass = {
  name: 'join products',
  requires: ['fuse'],
  run(graph) {
    if (graph.isObserved) return false
    const siblings = new Map<string, PlanCall[]>()
    for (const item of graph.calls) {
      const key = keyOf(graph, item)
      if (key !== undefined) siblings.set(key, [...(siblings.get(key) ?? []), item])
    }
    let changed = false
    for (const items of siblings.values())
      for (let at = 0; at + 1 < items.length; at += FACTORS.length) {
        join(graph, items.slice(at, at + FACTORS.length))
        changed = true
      }
    return changed
  }
}

/** What products have alike that can be joined; undefined where a call is no such product. */
function keyOf(graph: PlanGraph, { call, convert }: PlanCall): string | undefined {
  if (!isNamed('MatMul')(call) || !isPlainProduct(call)) return undefined
  if (convert !== undefined || call.dataDependent.length > 0) return undefined
  const [a, b] = ['a', 'b'].map(name => operandOf(call, name)) as [ValueId, ValueId]
  const { transposeB } = call.known
  const constant = graph.constantOf(b)
  if (graph.constantOf(a) !== undefined || constant?.type !== 'float32' || !isFloat32(graph, a)) return undefined
  const { dims } = constant
  const [rows, columns] = transposeB === true ? [dims[1], dims[0]] : dims
  return dims.length === 2 && columns % PANEL === 0 ? JSON.stringify([a, transposeB, rows]) : undefined
}

/** One call in the place of the first of some: the others read nothing that comes after it. */
function join(graph: PlanGraph, items: readonly PlanCall[]): void {
  const [first, ...others] = items
  const factors = items.map(({ call }, i) => [FACTORS[i], operandOf(call, 'b')])
  const { call } = first
  const inputs = { a: operandOf(call, 'a'), ...Object.fromEntries(factors) }
  const outputs = items.map(item => item.call.outputs[0])
  const nodes = nodesOfAll(items)
  for (const item of others) graph.remove(item)
  const joined = fusedCall(
    altered(call, { outputs, outputCount: items.length }),
    joinedProducts(call.op),
    inputs,
    call.known
  )
  graph.replace(first, { ...first, call: joined, nodes, fused: 'products of one value' })
}
