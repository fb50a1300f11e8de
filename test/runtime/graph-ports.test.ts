import { describe, expect, test } from 'vitest'
import { InferenceSession, Tensor, type Value } from '../../src/index.ts'
import { node, onnxModel } from '../fixtures/onnx.ts'

const tensorOf = (dims: readonly (number | string)[]): object => ({
  tensorType: {
    elemType: 1,
    shape: { dim: dims.map(dim => (typeof dim === 'number' ? { dimValue: dim } : { dimParam: dim })) }
  }
})
const floats = (count: number): Tensor => new Tensor('float32', new Float32Array(count), [count])
const list = (...values: Value[]): Value => ({ type: 'sequence', values })

describe('what an input holds is checked as it is declared', () => {
  const optional = onnxModel({
    inputs: [{ name: 'x', type: { optionalType: { elemType: tensorOf([2]) } } }],
    outputs: [{ name: 'y' }],
    nodes: [node('OptionalGetElement', ['x'], ['y'])]
  })
  const sequence = onnxModel({
    inputs: [{ name: 'x', type: { sequenceType: { elemType: tensorOf(['n']) } } }],
    outputs: [{ name: 'y' }],
    nodes: [node('SequenceLength', ['x'], ['y'])]
  })
  const run = async (model: Promise<ConstructorParameters<typeof InferenceSession>[0]>, x: Value): Promise<Value> =>
    (await new InferenceSession(await model).run({ x })).y

  test('an optional tensor, given as such or by itself', async () => {
    for (const x of [floats(2), { type: 'optional', value: floats(2) } as const])
      expect(((await run(optional, x)) as Tensor).dims).toEqual([2])
    for (const x of [floats(4), { type: 'optional', value: floats(4) } as const])
      await expect(run(optional, x)).rejects.toMatchObject({ code: 'shape-mismatch' })
  })

  test('each tensor of a list, which may have sizes of their own where a dim has a name', async () => {
    expect(Number(((await run(sequence, list(floats(2), floats(3)))) as Tensor).data[0])).toBe(2)
    await expect(run(sequence, list(floats(2), new Tensor('int64', [1n])))).rejects.toMatchObject({
      code: 'type-mismatch'
    })
    await expect(run(sequence, list(new Tensor('float32', [1], [])))).rejects.toMatchObject({ code: 'rank-mismatch' })
    await expect(run(sequence, floats(2))).rejects.toMatchObject({
      code: 'type-mismatch',
      reason: 'input "x" is a sequence; a tensor is given'
    })
  })
})
