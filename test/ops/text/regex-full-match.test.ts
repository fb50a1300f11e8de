import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'

test('RegexFullMatch says of each string whether it matches', () => {
  const out = runTensor(['onnx', 'RegexFullMatch', 20], [new Tensor('string', ['ab', 'abc', '', 'xb'], [2, 2])], {
    attributes: { pattern: '.b' }
  })
  expect(out).toMatchObject({ type: 'bool', dims: [2, 2] })
  expect([...out.data]).toEqual([1, 0, 0, 1])
  expect(
    dimsOf(inferOp(['onnx', 'RegexFullMatch', 20], [fact('string', ['n', 3])], { attributes: { pattern: 'a' } })[0])
  ).toEqual(['n', 3])
})

test('RegexFullMatch needs a pattern of RE2', () => {
  const run = (attributes: Record<string, string>): unknown =>
    runTensor(['onnx', 'RegexFullMatch', 20], [new Tensor('string', ['a'])], { attributes })
  expect(errorOf(() => run({ pattern: '(?=a)a' })).code).toBe('unknown-attribute-value')
  expect(errorOf(() => run({})).code).toBe('missing-attribute')
})
