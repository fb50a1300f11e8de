import { describe, expect, test } from 'vitest'
import { check, type CheckOptions } from '../../src/index.ts'
import { int64s, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { processorSeconds } from '../processor-time.ts'

const notes = async (parts: ModelParts, options: CheckOptions = {}): Promise<string[]> =>
  check(await onnxModel(parts), options).findings.map(
    ({ severity, code, place }) => `${severity} ${code} ${place.value ?? place.node ?? ''}`
  )

const nonZero = (
  declared: readonly (number | string)[],
  last: readonly (number | string)[] = declared
): ModelParts => ({
  inputs: [port('x', 'float', [5])],
  values: [port('found', 'int64', declared)],
  outputs: [port('y', 'int64', last)],
  nodes: [node('NonZero', ['x'], ['found']), node('Identity', ['found'], ['y'])]
})

describe('a declaration that says more than what can be proved', () => {
  test('is one note where it begins, and none for what follows', async () => {
    expect(await notes(nonZero([1, 3]))).toEqual(['note unproven-declaration found'])
  })

  test('is no note where nothing more is said', async () => {
    expect(await notes(nonZero([1, 'count']))).toEqual([])
  })

  test('is not looked for beside errors', async () => {
    expect(await notes(nonZero([1, 3], [2, 3]))).toEqual(['error dims-mismatch y'])
  })
})

describe('a declaration that says less than what is known', () => {
  const loose: ModelParts = {
    inputs: [port('x', 'float', [6, 3]), port('n', 'float', ['n', 3])],
    initializers: [int64s('ids', [1], [0])],
    values: [port('a', 'float', ['rows', 3]), port('b', 'float', [1, 3])],
    outputs: [port('y', 'float', ['n', 3])],
    nodes: [node('Gather', ['x', 'ids'], ['a']), node('Gather', ['a', 'ids'], ['b']), node('Identity', ['n'], ['y'])]
  }

  test('is a note when it is asked for, and never otherwise', async () => {
    expect(await notes(loose)).toEqual([])
    expect(await notes(loose, { strict: true })).toEqual(['note loose-declaration a'])
  })
})

test('values of operators that are not supported are counted', async () => {
  const { summary } = check(
    await onnxModel({
      domains: ['my.domain'],
      inputs: [port('x', 'float', [2])],
      outputs: [port('y', 'float', [2])],
      nodes: [node('Mine', ['x'], ['h', 'i'], {}, 'my.domain'), node('Relu', ['h'], ['y'])]
    })
  )
  expect(summary.unverified).toBe(2)
})

test('a value read by very many nodes costs no more than its ports', async () => {
  const count = 20_000
  const model = await onnxModel({
    inputs: [port('x', 'float', [2])],
    outputs: [port('y0', 'float', [2])],
    nodes: Array.from({ length: count }, (_, i) => node('Relu', ['x'], [`y${i}`]))
  })
  const seconds = await processorSeconds(() =>
    expect(check(model).summary).toMatchObject({ errors: 0, nodes: count, values: count + 1 })
  )
  expect(seconds).toBeLessThan(10)
})
