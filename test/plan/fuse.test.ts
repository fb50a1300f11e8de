import { describe, expect, test } from 'vitest'
import { FOLDING, runCall } from '../../src/infer/run.ts'
import { drain } from '../../src/kernels/core/pace.ts'
import { defineOp, defineOwnOp, params } from '../../src/op-kit/define.ts'
import { fuse, fusedCall } from '../../src/plan/fuse.ts'
import { ROUNDED } from '../../src/plan/fusions.ts'
import type { PlanGraph } from '../../src/plan/graph.ts'
import { isMeant, type Pattern } from '../../src/plan/match.ts'
import { runPasses } from '../../src/plan/pass.ts'
import { prune } from '../../src/plan/prune.ts'
import { tensorFact } from '../../src/shapes/fact.ts'
import { Tensor, type Value } from '../../src/tensor/tensor.ts'
import { floats, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { graphOf, opsOf } from './plan.ts'

/** `relu(a * b + c)` for operands of the same dims: stands for Mul, Add and Relu. */
const fusedRelu = defineOp({
  name: 'MulAddRelu',
  operands: { a: 'tensor', b: 'tensor', c: 'tensor' },
  params: params<{ floor: number }>(),
  shape: ({ a }) => [tensorFact(a.type, a.shape)],
  run({ a, b, c }, { floor }, call) {
    const out = call.rawOutput().data as Float32Array
    const [x, y, z] = [a, b, c].map(({ data }) => data as Float32Array)
    for (let i = 0; i < out.length; i++) out[i] = Math.max(floor, x[i] * y[i] + z[i])
  }
})

const pattern: Pattern = {
  name: 'multiply, add, rectify',
  calls: {
    product: { ops: ['Mul'], reads: { a: 'a', b: 'b' } },
    sum: { ops: ['Add'], reads: { a: 'product', b: 'c' } },
    relu: { ops: ['Relu'], reads: { x: 'sum' } }
  },
  root: 'relu',
  fuse: ({ calls, values }) => ({
    call: fusedCall(calls.get('relu')!.call, fusedRelu, Object.fromEntries(values), { floor: 0 })
  })
}

const xs = ['x', 'w', 'v'].map(name => port(name, 'float', [4]))
const parts = (more: readonly object[] = [], outputs: readonly object[] = [port('y', 'float')]): ModelParts => ({
  inputs: xs,
  outputs,
  nodes: [
    node('Mul', ['x', 'w'], ['p']),
    node('Add', ['p', 'v'], ['s']),
    node('Relu', ['s'], ['r']),
    node('Neg', ['r'], ['y']),
    ...more
  ]
})
const fused = async (model: ModelParts, isObserved = false, patterns: readonly Pattern[] = [pattern]) => {
  const graph = await graphOf(model, { isObserved })
  runPasses(graph, [prune, fuse(patterns)])
  return graph
}

/** Several patterns of the list for `fast` precision, one after the other. */
const mixed: ModelParts = {
  inputs: [port('x', 'float', [1, 4, 8, 8])],
  outputs: [port('y', 'float')],
  initializers: [
    ...[floats('w', [4, 4, 1, 1], new Array<number>(16).fill(0.5)), floats('b', [1, 4, 1, 1], [1, 2, 3, 4])],
    ...[floats('m', [8, 8], new Array<number>(64).fill(0.25)), floats('n', [8], new Array<number>(8).fill(0.125))],
    ...[floats('root', [], [Math.SQRT2]), floats('one', [], [1]), floats('half', [], [0.5]), floats('zero', [], [0])]
  ],
  nodes: [
    ...[node('Conv', ['x', 'w'], ['c']), node('Add', ['b', 'c'], ['d']), node('Clip', ['d', 'zero'], ['e'])],
    ...[node('Sigmoid', ['e'], ['f']), node('Mul', ['f', 'e'], ['g'])],
    node('Transpose', ['g'], ['h'], { perm: [0, 2, 3, 1] }),
    node('Transpose', ['h'], ['i'], { perm: [0, 3, 1, 2] }),
    ...[node('MatMul', ['i', 'm'], ['j']), node('Add', ['j', 'n'], ['k'])],
    ...[node('Div', ['k', 'root'], ['l']), node('Erf', ['l'], ['o']), node('Add', ['o', 'one'], ['p'])],
    ...[node('Mul', ['k', 'p'], ['q']), node('Mul', ['q', 'half'], ['r'])],
    ...[node('MatMul', ['r', 'r'], ['s']), node('Softmax', ['s'], ['t']), node('MatMul', ['t', 'r'], ['y'])]
  ]
}
const fusionsOf = (graph: PlanGraph) =>
  graph.calls.map(({ call, fused, nodes }) => [call.op.name, fused, nodes.map(({ type }) => type)])

describe('fuse', () => {
  test('puts one call of another operator in the place of several, and it knows their nodes', async () => {
    const graph = await fused(parts())
    expect(opsOf(graph)).toEqual(['MulAddRelu', 'Neg'])
    const [item] = graph.calls
    expect(item.nodes.map(({ type }) => type)).toEqual(['Mul', 'Add', 'Relu'])
    expect(item.fused).toBe('multiply, add, rectify')
    expect(item.call).toMatchObject({ inputs: ['x', 'w', 'v'], outputs: ['r'] })
    const float = (...values: number[]): Tensor => new Tensor('float32', values)
    const operands = [float(1, 2, 3, 4), float(1, -1, 1, -1), float(1, 1, 1, 9)]
    const [result] = drain(runCall(item.call, operands, FOLDING) as Generator<void, (Value | undefined)[]>)
    expect([...(result as Tensor).data]).toEqual([2, 0, 4, 5])
  })

  test('leaves alone what is read elsewhere, fetched, or seen because the run is observed', async () => {
    const all = ['Mul', 'Add', 'Relu', 'Neg']
    expect(opsOf(await fused(parts([], [port('y', 'float'), port('p', 'float')])))).toEqual(all)
    const other = parts([node('Abs', ['s'], ['z'])], [port('y', 'float'), port('z', 'float')])
    expect(opsOf(await fused(other))).toEqual([...all, 'Abs'])
    expect(opsOf(await fused(parts(), true))).toEqual(all)
  })

  test('asks the guard', async () => {
    const isConstant: Pattern = {
      ...pattern,
      guard: ({ values }, graph) => graph.constantOf(values.get('c')!) !== undefined
    }
    expect(opsOf(await fused(parts(), false, [isConstant]))).toHaveLength(4)
    const constant: ModelParts = { ...parts(), inputs: xs.slice(0, 2), initializers: [floats('v', [4], [1, 2, 3, 4])] }
    expect(opsOf(await fused(constant, false, [isConstant]))).toHaveLength(2)
  })

  test('one label is one value', async () => {
    const square: Pattern = {
      ...pattern,
      calls: { ...pattern.calls, product: { ...pattern.calls.product, reads: { a: 'a', b: 'a' } } }
    }
    expect(opsOf(await fused(parts(), false, [square]))).toHaveLength(4)
  })

  test('a fused call may be part of a larger pattern', async () => {
    const negated: Pattern = {
      name: 'negate after',
      calls: {
        inner: { ops: [fusedRelu.name] },
        root: { ops: ['Neg'], reads: { x: 'inner' } }
      },
      root: 'root',
      fuse: ({ calls }) => {
        const { call } = calls.get('inner')!
        const [a, b, c] = call.inputs
        return { call: fusedCall(calls.get('root')!.call, fusedRelu, { a, b, c }, { floor: 0 }) }
      }
    }
    const graph = await fused(parts(), false, [negated, pattern])
    expect(graph.calls.map(({ nodes }) => nodes.map(({ type }) => type))).toEqual([['Mul', 'Add', 'Relu', 'Neg']])
  })

  test('an operator of the caller, whatever its name, is none that a pattern names', async () => {
    const own = defineOwnOp({
      name: 'Relu',
      operands: { x: 'tensor' },
      onnx: [{ domain: 'own', since: 1, bind: {} }],
      shape: ({ x }) => [x],
      run: ({ x }, _, call) => call.give(0, x)
    })
    const model = { ...parts(), nodes: parts().nodes.with(2, { ...node('Relu', ['s'], ['r']), domain: 'own' }) }
    const graph = await graphOf({ ...model, domains: ['own'] }, {}, [own])
    runPasses(graph, [prune, fuse([pattern])])
    expect(opsOf(graph)).toEqual(['Mul', 'Add', 'Relu', 'Neg'])
  })

  test('finds what it finds where every pattern is tried at every call, in the same order', async () => {
    const tried = ROUNDED.map((pattern): Pattern => {
      const { [pattern.root]: root, ...others } = pattern.calls
      const { ops: _, ...anyOp } = root
      const where: typeof root.where = (call, graph) => isMeant(root, call, graph)
      return { ...pattern, calls: { ...others, [pattern.root]: { ...anyOp, where } } }
    })
    const [graph, other] = [await fused(mixed, false, ROUNDED), await fused(mixed, false, tried)]
    expect(fusionsOf(graph)).toEqual([
      ['FusedConv', 'activation', ['Conv', 'Add', 'Clip']],
      ['Silu', 'SiLU', ['Sigmoid', 'Mul']],
      ['Identity', 'transposes', ['Transpose', 'Transpose']],
      ['FusedMatMul', 'activation', ['MatMul', 'Add', 'Div', 'Erf', 'Add', 'Mul', 'Mul']],
      ['ScaledDotProductAttention', 'attention', ['MatMul', 'Softmax', 'MatMul']]
    ])
    expect(fusionsOf(other)).toEqual(fusionsOf(graph))
  })
})
