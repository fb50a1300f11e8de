import { describe, expect, test } from 'vitest'
import { bind } from '../../src/bind/bind.ts'
import { registryWith } from '../../src/built-in.ts'
import type { ValueId } from '../../src/graph/graph.ts'
import { InferenceSession, type Tensor } from '../../src/index.ts'
import { drain } from '../../src/kernels/core/pace.ts'
import { Blocks } from '../../src/runtime/blocks.ts'
import { MemoryLimit } from '../../src/runtime/memory-limit.ts'
import { Requests } from '../../src/runtime/requests.ts'
import { Weights } from '../../src/runtime/weights.ts'
import { floats, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { opsOf } from '../plan/plan.ts'
import { differenceOf, noise } from '../wasm/compare.ts'

const initializer = (name: string, dims: readonly number[], seed: number): object =>
  floats(name, dims, [...noise(dims, seed).data])

/** A convolution and what follows it; inputs of the graph besides x, as files before IR version 4 list initializers. */
const block = (...inputs: readonly object[]): ModelParts => ({
  inputs: [port('x', 'float', [1, 16, 12, 12]), ...inputs],
  outputs: [port('y', 'float')],
  initializers: [initializer('w', [16, 16, 3, 3], 1), initializer('b', [16], 2), initializer('r', [1, 16, 10, 10], 3)],
  nodes: [node('Conv', ['x', 'w', 'b'], ['c']), node('Add', ['c', 'r'], ['s']), node('Relu', ['s'], ['y'])]
})
const listed = [
  port('w', 'float', [16, 16, 3, 3]),
  port('b', 'float', [16]),
  port('r', 'float', [1, 16, 10, 10])
] as const
const x = noise([1, 16, 12, 12], 4)

describe('inputs with initializers', () => {
  test('that are not given are constants of the plan', async () => {
    const model = await onnxModel(block(...listed))
    const blocks = new Blocks({})
    const surroundings = { limit: new MemoryLimit(1 << 24), isExact: false, weights: new Weights(blocks), blocks }
    const requests = new Requests(model, bind(model, registryWith([])), surroundings)
    const planFor = (replaced: readonly ValueId[]) =>
      drain(requests.requestFor({ names: ['y'], outOfRange: undefined, isObserved: false, replaced })).plan
    const w = model.graph.inputs[1].value
    const [constant, given] = [planFor([]), planFor([w])]
    expect(opsOf(constant)).toEqual(['FusedConv'])
    expect(constant.steps[0].constants).not.toEqual(given.steps[0].constants)
    expect(planFor([])).toBe(constant)
  })

  test.each(['fast', 'exact'] as const)('that are given hold for one run: %s', async precision => {
    const runs = async (parts: ModelParts, feeds: readonly Record<string, Tensor>[]): Promise<Tensor[]> => {
      const session = new InferenceSession(await onnxModel(parts), { precision })
      const outputs: Tensor[] = []
      for (const feed of feeds) outputs.push((await session.run(feed)).y)
      session.dispose()
      return outputs
    }
    const w = noise([16, 16, 3, 3], 5)
    const r = noise([1, 16, 10, 10], 6)
    const feeds = [{ x }, { x, w }, { x }, { x }, { r, x, w }, { x, r }, { x, w }, { x }]
    const outputs = await runs(block(...listed), feeds)
    const needed = { w: noise([16, 16, 3, 3], 1), r: noise([1, 16, 10, 10], 3) }
    const parts = block(listed[0], listed[2])
    const without = { ...parts, initializers: [initializer('b', [16], 2)] }
    const expected = await runs(
      without,
      feeds.map(feed => ({ ...needed, ...feed }))
    )
    outputs.forEach((output, i) => expect(differenceOf(output, expected[i])).toBeLessThan(2e-5))
    expect(differenceOf(outputs[0], outputs[1])).toBeGreaterThan(0.1)
  })

  test('that bodies read are given to them', async () => {
    const body = (op: string): object => ({
      graph: {
        name: op,
        inputs: [],
        outputs: [port('z', 'float')],
        initializers: [],
        nodes: [node(op, ['x', 'w'], ['z'])]
      }
    })
    const session = new InferenceSession(
      await onnxModel({
        inputs: [port('x', 'float', [2]), port('isSum', 'bool', []), port('w', 'float', [2])],
        outputs: [port('y', 'float')],
        initializers: [floats('w', [2], [10, 20])],
        nodes: [node('If', ['isSum'], ['y'], { then_branch: body('Add'), else_branch: body('Mul') } as never)]
      })
    )
    const feed = (data: readonly number[]) => ({ type: 'float32', dims: [2], data: new Float32Array(data) }) as const
    const isSum = { type: 'bool', dims: [], data: new Uint8Array([1]) } as const
    const sums = async (w?: readonly number[]): Promise<number[]> => {
      const { y } = await session.run({ x: feed([1, 2]), isSum, ...(w && { w: feed(w) }) })
      return [...(y.data as Float32Array)]
    }
    for (let i = 0; i < 3; i++) {
      expect(await sums()).toEqual([11, 22])
      expect(await sums([3, 4])).toEqual([4, 6])
      expect(await sums([5, 6])).toEqual([6, 8])
    }
  })
})
