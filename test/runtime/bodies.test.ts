import { expect, test, vi } from 'vitest'
import { defineOp, InferenceSession, Tensor } from '../../src/index.ts'
import { trilu } from '../../src/ops/layout/trilu.ts'
import { floats, node, onnxBytes, port } from '../fixtures/onnx.ts'
import { DOMAIN, note, noted } from './noted.ts'

/** A loop whose iteration `i` gives a row, zeros before element `i`. */
const model = onnxBytes({
  inputs: [port('n', 'int64', [])],
  outputs: [port('all', 'float')],
  initializers: [floats('table', [1, 13], [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17])],
  nodes: [
    node('Loop', ['n', ''], ['all'], {
      body: {
        graph: {
          inputs: [port('i', 'int64', []), port('c', 'bool', [])],
          outputs: [port('more', 'bool', []), port('row', 'float', [1, 13])],
          nodes: [node('Identity', ['c'], ['more']), node('Trilu', ['table', 'i'], ['row'])]
        }
      }
    })
  ]
})

test('a node of a body is prepared once for each of a dozen values that iterations give it in turn', async () => {
  const session = await InferenceSession.create(model)
  /** The first element of each row that is not zero. */
  const elements = async (n: bigint): Promise<number[]> => {
    const { all } = await session.run({ n: new Tensor('int64', [n], []) })
    const { data } = all as Tensor<'float32'>
    return Array.from({ length: Number(n) }, (_, i) => data.subarray(13 * i, 13 * (i + 1)).find(x => x !== 0)!)
  }
  await elements(12n)
  const shape = vi.spyOn(trilu, 'shape')
  expect(await elements(12n)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])
  expect(await elements(3n)).toEqual([5, 6, 7])
  expect(shape).not.toHaveBeenCalled()
  expect((await elements(13n)).at(-1)).toBe(17)
  expect(shape).toHaveBeenCalled()
  shape.mockRestore()
})

/** Gives its operand after a pause where that is a multiple of three, and fails at 70. */
const hesitating = defineOp({
  ...noted('Hesitating', () => undefined),
  run({ x }, _, call) {
    const i = Number(x.data[0])
    if (i === 70) throw new Error('seventy')
    call.give(0, x)
    if (i % 3 === 0)
      return (function* () {
        yield
        call.give(0, x)
      })()
    return undefined
  }
})

test('iterations that run at once and those that pause give their values in turn', async () => {
  const counting = onnxBytes({
    inputs: [port('n', 'int64', [])],
    outputs: [port('all', 'int64')],
    domains: [DOMAIN],
    nodes: [
      node('Loop', ['n', ''], ['all'], {
        body: {
          graph: {
            inputs: [port('i', 'int64', []), port('c', 'bool', [])],
            outputs: [port('more', 'bool', []), port('sum', 'int64', [])],
            nodes: [
              node('Identity', ['c'], ['more']),
              note('Hesitating', 'i', 'same'),
              node('Add', ['same', 'i'], ['sum'])
            ]
          }
        }
      })
    ]
  })
  const session = await InferenceSession.create(counting, { ops: [hesitating] })
  for (let i = 0; i < 4; i++) {
    const { all } = await session.run({ n: new Tensor('int64', [70n], []) })
    expect([...(all as Tensor<'int64'>).data]).toEqual(Array.from({ length: 70 }, (_, k) => BigInt(2 * k)))
    await expect(session.run({ n: new Tensor('int64', [71n], []) })).rejects.toThrow(/seventy/)
  }
})
