import { expect, test } from 'vitest'
import { bind } from '../../src/bind/bind.ts'
import { registryWith } from '../../src/built-in.ts'
import { propagating } from '../../src/infer/propagate.ts'
import { node, onnxModel, port } from '../fixtures/onnx.ts'

test('working facts out gives way on the way through a large graph', async () => {
  const names = Array.from({ length: 2001 }, (_, i) => `v${i}`)
  const model = await onnxModel({
    inputs: [port('v0', 'float', [1])],
    outputs: [port('v2000', 'float')],
    nodes: names.slice(1).map((name, i) => node('Neg', [names[i]], [name]))
  })
  const steps = propagating(bind(model, registryWith()))
  let turns = 0
  let step = steps.next()
  for (; !step.done; step = steps.next()) turns++
  expect(turns).toBeGreaterThan(5)
  expect(step.value.facts.get('v2000')).toMatchObject({ shape: [1] })
})
