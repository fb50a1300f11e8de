import { expect, test, vi } from 'vitest'
import { schedule } from '../../src/plan/schedule.ts'
import { floats, int64s, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

/** x times weights and a list, twice, where the initializers are those of the main graph, as exporters write them. */
const parts = (isGiven: boolean): ModelParts => ({
  inputs: [port('x', 'float', [1, 2]), ...(isGiven ? [port('w', 'float', [2, 2])] : [])],
  outputs: [port('y', 'float', [1, 2])],
  initializers: [int64s('twice', [], [2]), int64s('at', [1], [0]), floats('w', [2, 2], [1, -2, 3, 4])],
  nodes: [
    node('Loop', ['twice', '', 'x'], ['y'], {
      body: {
        graph: {
          inputs: [port('i', 'int64', []), port('go', 'bool', []), port('last', 'float', [1, 2])],
          outputs: [port('goes on', 'bool', []), port('next', 'float', [1, 2])],
          nodes: [
            node('Identity', ['go'], ['goes on']),
            node('MatMul', ['last', 'w'], ['product']),
            // The first row of the weights, which is known before a run where they are.
            node('Gather', ['w', 'at'], ['row']),
            node('Add', ['product', 'row'], ['next'])
          ]
        }
      }
    })
  ]
})

test('what is constant in the graph around a body is constant in it, too', async () => {
  const { steps } = await planOf(parts(false))
  const [{ plan }] = steps[0].bodies.values()
  const product = plan().steps.find(({ nodes }) => nodes.some(({ type }) => type === 'MatMul'))
  expect(opsOf(plan())).toEqual(['FusedMatMul'])
  expect(product?.constants).toContain(1)
  expect(await differenceBetween(parts(false), { x: [1, 2] })).toBeLessThan(1e-6)
})

test('a default is none, since a caller may give another value', async () => {
  const { steps } = await planOf(parts(true))
  const [{ plan }] = steps[0].bodies.values()
  expect(opsOf(plan())).toEqual(['Gather', 'FusedMatMul'])
  expect(plan().steps[1].constants).toEqual([])
  expect(await differenceBetween(parts(true), { x: [1, 2], w: [2, 2] })).toBeLessThan(1e-6)
})

test('of a body only the calls are chosen before it runs: a branch that is never taken costs no more', async () => {
  const run = vi.spyOn(schedule, 'run')
  const { steps } = await planOf(parts(false))
  expect(run).toHaveBeenCalledTimes(1)
  const [{ plan }] = steps[0].bodies.values()
  expect(plan()).toBe(plan())
  expect(run).toHaveBeenCalledTimes(2)
  run.mockRestore()
})

test('operators that bodies lack are named with those of the graph around them before anything runs', async () => {
  const branch = (type: string) => ({
    graph: { inputs: [], outputs: [port(type, 'float', [1, 2])], nodes: [node(type, ['a'], [type])] }
  })
  const model: ModelParts = {
    inputs: [port('x', 'float', [1, 2]), port('c', 'bool', [])],
    outputs: [port('y', 'float', [1, 2])],
    nodes: [
      node('Unheard', ['x'], ['a']),
      node('If', ['c'], ['y'], { then_branch: branch('Abs'), else_branch: branch('Unseen') })
    ]
  }
  await expect(planOf(model)).rejects.toMatchObject({
    code: 'unsupported-op',
    details: { types: [expect.stringContaining('Unheard'), expect.stringContaining('Unseen')] }
  })
})

test('what a body gives back as it is takes no step', async () => {
  const passing: ModelParts = {
    inputs: [port('x', 'float', [1, 2]), port('table', 'float', [1, 2])],
    outputs: [port('y', 'float', [1, 2]), port('kept', 'float', [1, 2]), port('all', 'float', ['n', 1, 2])],
    initializers: [int64s('twice', [], [2])],
    nodes: [
      node('Loop', ['twice', '', 'x', 'table'], ['y', 'kept', 'all'], {
        body: {
          graph: {
            inputs: [port('i', 'int64', []), port('go', 'bool', []), port('last', 'float'), port('state', 'float')],
            outputs: [port('goes on', 'bool', []), ...['next', 'same', 'copy'].map(name => port(name, 'float'))],
            nodes: [
              node('Identity', ['go'], ['goes on']),
              node('Add', ['last', 'state'], ['next']),
              node('Identity', ['state'], ['once']),
              node('Identity', ['once'], ['same']),
              node('Identity', ['next'], ['copy'])
            ]
          }
        }
      })
    ]
  }
  const bodyPlan = async (options = {}) => {
    const { steps } = await planOf(passing, options)
    return [...steps[0].bodies.values()][0].plan()
  }
  const { steps, inputs, outputs } = await bodyPlan()
  expect(steps).toMatchObject([{ call: { op: { name: 'Add' } } }])
  expect(outputs).toEqual([inputs[1], steps[0].outputs[0], inputs[3], steps[0].outputs[0]])
  expect(opsOf(await bodyPlan({ isObserved: true }))).toEqual(['Add', 'Identity', 'Identity', 'Identity'])
  expect(await differenceBetween(passing, { x: [1, 2], table: [1, 2] })).toBeLessThan(1e-6)
})
