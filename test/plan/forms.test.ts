import { expect, test } from 'vitest'
import { alteredPlan, type Step } from '../../src/plan/plan.ts'
import { floats, type GraphParts, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { opsOf, planOf } from './plan.ts'

const branch = (name: string, op: string): GraphParts => ({
  nodes: [node(op, ['sum'], [name])],
  outputs: [port(name, 'float')]
})

/** What is fused, what reads another value instead, what is as the file has it, and bodies. */
const model: ModelParts = {
  inputs: [port('x', 'float', ['n', 8]), port('flag', 'bool', [])],
  outputs: [port('y', 'float')],
  initializers: [
    floats('weights', [8, 8], new Array<number>(64).fill(0.5)),
    floats('bias', [8], [1, 2, 3, 4, 5, 6, 7, 8])
  ],
  nodes: [
    node('MatMul', ['x', 'weights'], ['product']),
    node('Add', ['product', 'bias'], ['added']),
    node('Relu', ['added'], ['active']),
    node('Identity', ['active'], ['same']),
    node('Softmax', ['same'], ['shares']),
    node('Add', ['shares', 'same'], ['sum']),
    node('If', ['flag'], ['y'], {
      then_branch: { graph: branch('negated', 'Neg') },
      else_branch: { graph: branch('exact', 'Abs') }
    })
  ]
}

/** Steps of a plan and of the bodies in it. */
const allSteps = (steps: readonly Step[]): Step[] =>
  steps.flatMap(step => [step, ...[...step.bodies.values()].flatMap(body => allSteps(body.plan().steps))])

const formsOf = (objects: readonly object[]): Set<string> =>
  new Set(objects.map(object => Object.keys(object).join(', ')))

test('all steps of plans, their calls and what they keep have one form, which is fastest to read', async () => {
  const plan = await planOf(model)
  const steps = allSteps(plan.steps)
  expect(opsOf(plan)).toContain('If')
  expect(steps.some(({ fused }) => fused !== undefined)).toBe(true)
  for (const objects of [steps, steps.map(({ call }) => call), steps.map(({ memo }) => memo)])
    expect(formsOf(objects).size).toBe(1)
  expect(formsOf([plan, alteredPlan(plan, { steps: [] })]).size).toBe(1)
  expect(alteredPlan(plan, { steps: [] })).toEqual({ ...plan, steps: [] })
})
