import { expect, test } from 'vitest'
import { compare, load, Tensor } from '../../src/index.ts'
import { floats, int64s, type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'

const x = new Tensor('float32', [1, 2, -3, 4], [2, 2])

/** relu(x) * w1 * w2, with an Identity between in the second model, which has no counterpart. */
const chain = (w1: number, w2: number, between: boolean): ModelParts => ({
  inputs: [port('x', 'float', [2, 2])],
  initializers: [floats('w1', [1], [w1]), floats('w2', [1], [w2])],
  outputs: [port('y', 'float', [2, 2])],
  nodes: [
    node('Relu', ['x'], ['r']),
    node('Mul', ['r', 'w1'], ['m']),
    ...(between ? [node('Identity', ['m'], ['only here'])] : []),
    node('Mul', [between ? 'only here' : 'm', 'w2'], ['n']),
    node('Neg', ['n'], ['y'])
  ]
})

test('a node is measured by its own error, the worst first, and not by that of the nodes before it', async () => {
  const [a, b] = [await load(onnxBytes(chain(2, 3, false))), await load(onnxBytes(chain(2.2, 3.03, true)))]
  const { isolated, first, pairs } = await compare(a, b, { x }, { isolate: true })
  expect(first?.a.value).toBe('m')
  // In the run of the second model by itself everything after the first difference is off.
  expect(pairs.filter(({ distance }) => !distance.equal).map(({ a: { value } }) => value)).toEqual(['m', 'n', 'y'])
  expect(isolated?.map(({ b: { value }, distance }) => [value, distance.maxAbsolute > 0])).toEqual([
    ['m', true],
    ['n', true],
    ['r', false],
    ['y', false]
  ])
  // 2.2 for 2, and 3.03 for 3: an error of 10 % is one of 20 dB.
  expect(isolated?.[0].distance.sqnr).toBeCloseTo(20 * Math.log10(2.2 / 0.2), 3)
  expect(isolated?.[1].distance.sqnr).toBeCloseTo(20 * Math.log10(3.03 / 0.03), 3)
})

test('values in bodies are fed by iteration, and the worst iteration counts', async () => {
  const looping = (step: number): ModelParts => ({
    inputs: [port('x', 'float', [2, 2])],
    initializers: [int64s('n', [], [3])],
    outputs: [port('y', 'float', [2, 2])],
    nodes: [
      node('Loop', ['n', '', 'x'], ['y'], {
        body: {
          graph: {
            inputs: [port('i', 'int64', []), port('c', 'bool', []), port('s', 'float', [2, 2])],
            outputs: [port('c2', 'bool', []), port('t', 'float', [2, 2])],
            initializers: [floats('step', [1], [step])],
            nodes: [node('Identity', ['c'], ['c2']), node('Add', ['s', 'step'], ['t'])]
          }
        }
      })
    ]
  })
  const [a, b] = [await load(onnxBytes(looping(1))), await load(onnxBytes(looping(1.5)))]
  const { isolated, pairs, first } = await compare(a, b, { x }, { isolate: true })
  expect(first).toMatchObject({ a: { value: 't', graphPath: '0:body' }, iteration: 0 })
  const inBody = pairs.filter(({ a: { value } }) => value === 't')
  expect(inBody.map(({ iteration, distance }) => [iteration, distance.maxAbsolute])).toEqual([
    [0, 0.5],
    [1, 1],
    [2, 1.5]
  ])
  // Fed with the state of the first model, each iteration is off by one step.
  expect(isolated?.find(({ a: { value } }) => value === 't')?.distance.maxAbsolute).toBe(0.5)
})

test('a value of another kind does not stand for its counterpart', async () => {
  const parts = (to: number): ModelParts => ({
    inputs: [port('x', 'float', [2, 2])],
    outputs: [port('y', 'float', [2, 2])],
    nodes: [
      node('Relu', ['x'], ['r']),
      node('Cast', ['r'], ['whole'], { to }),
      node('Cast', ['whole'], ['y'], { to: 1 })
    ]
  })
  const [a, b] = [await load(onnxBytes(parts(1))), await load(onnxBytes(parts(6)))]
  const { isolated } = await compare(a, b, { x }, { isolate: true })
  expect(isolated?.map(({ a: { value } }) => value).sort()).toEqual(['r', 'y'])
})
