import { expect, test } from 'vitest'
import { InferenceSession, Tensor } from '../../../src/index.ts'
import { node, onnxModel, port } from '../../fixtures/onnx.ts'
import { inOther, typesOf } from '../converted.ts'
import { plain } from '../model.ts'

/** `sum = sum + step`, stacked, until it reaches 10; `step` is read from around the body. */
const model = onnxModel({
  inputs: [port('n', 'int64', []), port('go', 'bool', []), port('start', 'float', [2]), port('step', 'float', [2])],
  outputs: [port('end', 'float', [2]), port('all', 'float', ['k', 2])],
  nodes: [
    node('Loop', ['n', 'go', 'start'], ['end', 'all'], {
      body: {
        graph: {
          inputs: [port('i', 'int64', []), port('before', 'bool', []), port('sum', 'float', [2])],
          outputs: [port('goes', 'bool', []), port('next', 'float', [2]), port('seen', 'float', [2])],
          nodes: [
            node('Add', ['sum', 'step'], ['next']),
            node('Identity', ['next'], ['seen']),
            node('ReduceMax', ['next'], ['most'], { keepdims: 0 }),
            node('CastLike', ['i', 'most'], ['number']),
            node('Less', ['number', 'most'], ['rises']),
            node('And', ['before', 'rises'], ['goes'])
          ]
        }
      }
    })
  ]
})

test('Loop becomes one of the other dialect and back: carried, stacked and captured values, number', async () => {
  const there = inOther(await model)
  const back = inOther(there)
  expect([typesOf(there), back.graph.nodes.map(({ type }) => type)]).toEqual([
    expect.arrayContaining(['Loop']),
    expect.arrayContaining(['Loop'])
  ])
  for (const [count, step] of [
    [3, 2],
    [9, 0.5],
    [1, 1]
  ]) {
    const feeds = {
      n: new Tensor('int64', [BigInt(count)], []),
      go: new Tensor('bool', [true], []),
      start: new Tensor('float32', [1, 2]),
      step: new Tensor('float32', [step, step])
    }
    const own = await new InferenceSession(await model).run(feeds)
    for (const one of [there, back]) {
      const said = await new InferenceSession(one).run(feeds)
      expect([plain(said['end']), plain(said['all'])]).toEqual([plain(own['end']), plain(own['all'])])
    }
  }
})
