import { expect, test } from 'vitest'
import { InferenceSession, Tensor } from '../../../src/index.ts'
import { node, onnxModel, port } from '../../fixtures/onnx.ts'
import { inOther, typesOf } from '../converted.ts'
import { plain } from '../model.ts'
import { randomFloats } from '../random.ts'

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

test('Loop of ONNX without a condition runs as often as it says in IR, whatever its body finds', async () => {
  const there = inOther(
    await onnxModel({
      inputs: [port('n', 'int64', []), port('start', 'float', [2])],
      outputs: [port('end', 'float', [2])],
      nodes: [
        node('Loop', ['n', '', 'start'], ['end'], {
          body: {
            graph: {
              inputs: [port('i', 'int64', []), port('before', 'bool', []), port('sum', 'float', [2])],
              outputs: [port('goes', 'bool', []), port('next', 'float', [2])],
              nodes: [node('Add', ['sum', 'sum'], ['next']), node('Not', ['before'], ['goes'])]
            }
          }
        })
      ]
    })
  )
  const start = new Tensor('float32', [1, 3])
  const { end } = await new InferenceSession(there).run({ n: new Tensor('int64', [4n], []), start })
  expect([typesOf(there), plain(end)]).toEqual([
    expect.arrayContaining(['Loop']),
    plain(new Tensor('float32', [16, 48]))
  ])
})

test.each([
  [{}, [4, 2, 3], [4, 3]],
  [{ scan_input_axes: [1, -1], scan_input_directions: [1, 0], scan_output_axes: [-1, 1] }, [2, 4, 3], [3, 4]],
  [{ scan_input_directions: [1, 1], scan_output_directions: [0, 1] }, [4, 2, 3], [4, 3]]
] as const)('Scan of ONNX is a TensorIterator in IR and a Loop after that, with %j', async (how, first, second) => {
  const model = await onnxModel({
    inputs: [port('sum', 'float', [3]), port('a', 'float', [...first]), port('b', 'float', [...second])].concat(
      port('factor', 'float', [])
    ),
    outputs: [port('end', 'float', [3]), port('all', 'float', ['r', 'c']), port('each', 'float', ['p', 'q', 's'])],
    nodes: [
      node('Scan', ['sum', 'a', 'b'], ['end', 'all', 'each'], {
        num_scan_inputs: 2,
        ...how,
        body: {
          graph: {
            inputs: [port('before', 'float', [3]), port('x', 'float', [2, 3]), port('y', 'float', [3])],
            outputs: [port('after', 'float', [3]), port('seen', 'float', [3]), port('part', 'float', [2, 3])],
            nodes: [
              node('Mul', ['before', 'factor'], ['scaled']),
              node('Add', ['scaled', 'y'], ['after']),
              node('Identity', ['after'], ['seen']),
              node('Add', ['x', 'after'], ['part'])
            ]
          }
        }
      })
    ]
  })
  const there = inOther(model)
  const back = inOther(there)
  expect([typesOf(there), typesOf(back)]).toEqual([
    expect.arrayContaining(['TensorIterator']),
    expect.arrayContaining(['Loop'])
  ])
  const feeds = {
    sum: randomFloats(1, [3]),
    a: randomFloats(2, first),
    b: randomFloats(3, second),
    factor: new Tensor('float32', [0.5], [])
  }
  const own = await new InferenceSession(model).run(feeds)
  for (const one of [there, back]) {
    const said = await new InferenceSession(one).run(feeds)
    for (const name of ['end', 'all', 'each']) expect(plain(said[name])).toEqual(plain(own[name]))
  }
})
