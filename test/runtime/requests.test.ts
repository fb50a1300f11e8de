import { expect, test } from 'vitest'
import { bind } from '../../src/bind/bind.ts'
import { registryWith } from '../../src/built-in.ts'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { drain } from '../../src/kernels/core/pace.ts'
import { Blocks } from '../../src/runtime/blocks.ts'
import { MemoryLimit } from '../../src/runtime/memory-limit.ts'
import { Requests } from '../../src/runtime/requests.ts'
import { Weights } from '../../src/runtime/weights.ts'
import { type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'

/** A model with a value for each name, each made of the one before. */
const chain = (names: readonly string[]): ModelParts => ({
  inputs: [port('x', 'float', ['n'])],
  outputs: [port(names.at(-1)!, 'float')],
  nodes: names.map((name, i) => node('Neg', [i === 0 ? 'x' : names[i - 1]], [name]))
})
const names = Array.from({ length: 100 }, (_, i) => `v${i}`)

test('plans for many lists of names are not kept all at once, nor what is held for their runs', async () => {
  const model = await onnxModel(chain(names))
  const blocks = new Blocks({})
  const weights = new Weights(blocks)
  const surroundings = { limit: new MemoryLimit(1 << 24), isExact: false, weights, blocks }
  const requests = new Requests(model, bind(model, registryWith([])), surroundings)
  const planFor = (name: string) =>
    drain(requests.requestFor({ names: [name], outOfRange: undefined, isObserved: false, replaced: undefined })).plan
  const [first, second] = [planFor(names[0]), planFor(names[1])]
  const afterTwo = weights.others.size
  for (const name of names.slice(2, 64)) planFor(name)
  // It is used again, and so stays longer than those after it.
  expect(planFor(names[0])).toBe(first)
  for (const name of names.slice(64)) planFor(name)
  expect(weights.others.size).toBe(32 * afterTwo)
  expect(planFor(names[99])).toBe(planFor(names[99]))
  expect(planFor(names[1])).not.toBe(second)
})

test('every value of a model can be asked for by itself, again and again', async () => {
  const session = new InferenceSession(await onnxModel(chain(names)))
  const x = new Tensor('float32', [1, -2])
  for (let round = 0; round < 3; round++)
    for (const [i, name] of names.entries())
      expect((await session.run({ x }, [name]))[name].data[0]).toBe(i % 2 === 0 ? -1 : 1)
})

test('a plan that two runs have made at once is kept once, with what is held for its runs', async () => {
  const model = await onnxModel(chain(Array.from({ length: 600 }, (_, i) => `w${i}`)))
  const blocks = new Blocks({})
  const weights = new Weights(blocks)
  const surroundings = { limit: new MemoryLimit(1 << 24), isExact: false, weights, blocks }
  const requests = new Requests(model, bind(model, registryWith([])), surroundings)
  const asked = { names: ['w599'], outOfRange: undefined, isObserved: false, replaced: undefined }
  const [first, second] = [requests.requestFor(asked), requests.requestFor(asked)]
  for (const begun of [first, second]) expect(begun.next().done).not.toBe(true)
  const request = drain(first)
  const { size } = weights.others
  expect(drain(second)).toBe(request)
  expect(weights.others.size).toBe(size)
})

test('the last plan serves a run that replaces the same values, named in a list of its own', async () => {
  const model = await onnxModel(chain(['v0']))
  const blocks = new Blocks({})
  const surroundings = { limit: new MemoryLimit(1 << 24), isExact: false, weights: new Weights(blocks), blocks }
  const requests = new Requests(model, bind(model, registryWith([])), surroundings)
  const asked = { names: ['v0'], outOfRange: undefined, isObserved: false }
  const request = drain(requests.requestFor({ ...asked, replaced: ['x'] }))
  expect(requests.lastFor({ ...asked, replaced: ['x'] })).toBe(request)
  for (const replaced of [['y'], ['x', 'y'], [], undefined])
    expect(requests.lastFor({ ...asked, replaced })).toBeUndefined()
})
