import { expect, test } from 'vitest'
import { defineOp, isBuiltIn } from '../../src/op-kit/define.ts'
import { defineRules, hasKernel, withKernel } from '../../src/op-kit/rules.ts'
import { tensorFact } from '../../src/shapes/fact.ts'

const rules = defineRules({
  name: 'Probe',
  operands: { x: 'tensor' },
  onnx: [{ since: 1, bind: {} }],
  shape: ({ x }) => [tensorFact(x.type, x.shape)]
})
const run = (): void => undefined

test('rules have no kernel, and running them is an internal error', () => {
  expect(hasKernel(rules)).toBe(false)
  expect(isBuiltIn(rules)).toBe(false)
  expect(() => rules.run({}, {}, undefined as never)).toThrow(expect.objectContaining({ code: 'internal' }))
})

test('rules with a kernel are the operator that one definition makes', () => {
  const op = withKernel(rules, { run })
  const whole = defineOp({
    name: 'Probe',
    operands: { x: 'tensor' },
    onnx: [{ since: 1, bind: {} }],
    shape: rules.shape,
    run
  })
  expect(op).toEqual(whole)
  expect([hasKernel(op), isBuiltIn(op)]).toEqual([true, true])
  expect(hasKernel(rules)).toBe(false)
})
