import { describe, expect, test } from 'vitest'
import type { Optional } from '../../../src/tensor/tensor.ts'
import { type GraphParts, type ModelParts, node, port } from '../../fixtures/onnx.ts'
import { errorOf, inferOp, runOp } from '../harness.ts'
import { alias, float, inferOnnx, optionalPort, plain, runOnnx, scalar } from '../model.ts'

const some: Optional = { type: 'optional', value: float(1) }
const none: Optional = { type: 'optional', value: undefined }
const run = (type: string, opset: number, inputs: Parameters<typeof runOp>[1]): unknown =>
  plain(runOp(['onnx', type, opset], inputs)[0])

describe('optionals', () => {
  test('hold what is put in', () => {
    expect(runOp(['onnx', 'Optional', 15], [float(1)])).toEqual([some])
    expect(errorOf(() => run('Optional', 15, [])).code).toBe('missing-attribute')
  })

  test('say whether there is something', () => {
    expect(run('OptionalHasElement', 15, [some])).toEqual([[], 1])
    expect(run('OptionalHasElement', 15, [none])).toEqual([[], 0])
  })

  test('since version 18 nothing at all is absent, and a tensor or a sequence is there', () => {
    expect(run('OptionalHasElement', 18, [])).toEqual([[], 0])
    expect(run('OptionalHasElement', 18, [float(1)])).toEqual([[], 1])
    expect(run('OptionalHasElement', 18, [{ type: 'sequence', values: [] }])).toEqual([[], 1])
    expect(run('OptionalGetElement', 18, [float(1)])).toEqual([[1], 1])
    expect(errorOf(() => run('OptionalHasElement', 15, [])).code).toBe('wrong-input-count')
    expect(errorOf(() => run('OptionalHasElement', 15, [float(1)])).code).toBe('type-not-allowed')
  })

  test('give out what is there and fail where nothing is', () => {
    expect(run('OptionalGetElement', 15, [some])).toEqual([[1], 1])
    expect(errorOf(() => run('OptionalGetElement', 15, [none])).code).toBe('value-out-of-range')
  })

  test('presence is known early where the kind tells', () => {
    expect(inferOp(['onnx', 'OptionalHasElement', 18], [{ kind: 'tensor', type: 'float32' }])).toMatchObject([
      { value: { data: Uint8Array.of(1) } }
    ])
    expect(inferOp(['onnx', 'OptionalHasElement', 18], [])).toMatchObject([{ value: { data: Uint8Array.of(0) } }])
    expect(
      inferOp(
        ['onnx', 'OptionalHasElement', 18],
        [{ kind: 'optional', element: { kind: 'tensor', type: 'float32' } }]
      )[0]
    ).not.toHaveProperty('value')
  })
})

describe('an optional input', () => {
  const model: ModelParts = {
    inputs: [optionalPort('x', 'float', [1])],
    nodes: [node('OptionalHasElement', ['x'], ['there'])],
    outputs: [port('there', 'bool', [])]
  }

  test('takes an optional, or what it would hold', async () => {
    expect(await runOnnx(model, { x: none })).toEqual({ there: [[], 0] })
    expect(await runOnnx(model, { x: some })).toEqual({ there: [[], 1] })
    expect(await runOnnx(model, { x: float(1) })).toEqual({ there: [[], 1] })
  })
})

test('a loop may carry an optional in and its element on', async () => {
  const first: GraphParts = { nodes: [alias('x', 'b')], outputs: [port('b', 'float', [1])] }
  const next: GraphParts = {
    nodes: [node('OptionalGetElement', ['o'], ['g']), node('Add', ['g', 'x'], ['b'])],
    outputs: [port('b', 'float', [1])]
  }
  const graph: GraphParts = {
    inputs: [port('i', 'int64', []), port('c', 'bool', []), optionalPort('o', 'float', [1])],
    nodes: [
      alias('c', 'more'),
      node('OptionalHasElement', ['o'], ['there']),
      node('If', ['there'], ['r'], { then_branch: { graph: next }, else_branch: { graph: first } })
    ],
    outputs: [port('more', 'bool', []), port('r', 'float', [1])]
  }
  const model: ModelParts = {
    inputs: [port('n', 'int64', []), port('x', 'float', [1]), optionalPort('start', 'float', [1])],
    nodes: [node('Loop', ['n', '', 'start'], ['sum'], { body: { graph } })],
    outputs: [port('sum', 'float', [1])]
  }
  expect(await runOnnx(model, { n: scalar(3), x: float(2), start: none })).toEqual({ sum: [[1], 6] })
  expect(await runOnnx(model, { n: scalar(3), x: float(2), start: float(10) })).toEqual({ sum: [[1], 16] })
  expect(await inferOnnx(model)).toEqual({ sum: '[1]' })
})
