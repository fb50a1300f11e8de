import { beforeEach, describe, expect, test, vi } from 'vitest'
import { defineOp, InferenceSession, shapes, Tensor, type Value } from '../../src/index.ts'
import { params } from '../../src/op-kit/define.ts'
import { packOfParameters } from '../../src/op-kit/packs.ts'
import { derive, text } from '../../src/op-kit/sources.ts'
import { Weights } from '../../src/runtime/weights.ts'
import { heapStats } from '../../src/wasm/heap.ts'
import { type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'

const DOMAIN = 'my.domain'
const SIZE = 4096
let packings = 0
let plainRuns = 0
let way: 'at once' | 'in pieces' | 'own memory' | 'taken over' | 'too large' | 'nothing' | 'failing' = 'at once'
let takenOver = 0
let onPiece = (): void => undefined

/** `x + reversed(w)`; packing reverses w. */
const addReversed = defineOp({
  name: 'AddReversed',
  operands: { x: 'tensor', w: 'tensor' },
  onnx: [{ domain: DOMAIN, since: 1, bind: {} }],
  shape: ({ x }) => [shapes.tensorFact(x.type, x.shape)],
  pack(constants, _, context) {
    packings++
    const taken = way === 'taken over' ? context.takeOver?.('w', 'float32') : undefined
    if (taken) {
      takenOver++
      ;(taken.data as Float32Array).reverse()
      return { reversed: taken }
    }
    const { w } = constants
    if (w === undefined || way === 'nothing') return undefined
    if (way === 'failing') throw new Error('cannot pack')
    if (way === 'too large') context.allocate('float32', [2, SIZE])
    const reversed =
      way === 'own memory'
        ? new Tensor('float32', new Float32Array(w.data.length), w.dims)
        : context.allocate('float32', w.dims)
    const fill = (): void => (reversed.data as Float32Array).set((w.data as Float32Array).toReversed())
    if (way !== 'in pieces') {
      fill()
      return { reversed }
    }
    return (function* () {
      yield
      onPiece()
      yield
      fill()
      return { reversed }
    })()
  },
  run({ x, w }, _, call) {
    const out = call.rawOutput().data as Float32Array
    if (!call.packed) plainRuns++
    const reversed = (call.packed?.reversed.data ?? w.data.slice().reverse()) as Float32Array
    for (let i = 0; i < out.length; i++) out[i] = (x.data as Float32Array)[i] + reversed[i]
  }
})

const own = (inputs: readonly string[], output: string): object => node('AddReversed', inputs, [output], {}, DOMAIN)
const weights = Array.from({ length: SIZE }, (_, i) => i)
const model = (nodes: readonly object[], parts: Partial<ModelParts> = {}): Uint8Array =>
  onnxBytes({
    domains: [DOMAIN],
    inputs: [port('x', 'float', [SIZE])],
    outputs: [port('y', 'float', [SIZE])],
    // As bytes, as they lie in memory.
    initializers: [
      { name: 'w', dims: [SIZE], dataType: 1, rawData: new Uint8Array(Float32Array.from(weights).buffer) }
    ],
    nodes,
    ...parts
  })
const x = new Tensor('float32', new Float32Array(SIZE).fill(1), [SIZE])
const expected = weights.map(value => value + 1).reverse()
const numbers = (value: Value | undefined): number[] => [...((value as Tensor).data as Float32Array)]
const create = (source: Uint8Array, maxMemory?: number): Promise<InferenceSession> =>
  InferenceSession.create(source, { ops: [addReversed], ...(maxMemory !== undefined && { maxMemory }) })

beforeEach(() => {
  packings = 0
  plainRuns = 0
  takenOver = 0
  way = 'at once'
  onPiece = () => undefined
})

describe('packed parameters', () => {
  const pack = packOfParameters('squares', (_, { numbers: own }, { allocate }) => {
    packings++
    const squares = allocate('float32', [SIZE])
    ;(squares.data as Float32Array).fill((own as { readonly value: number }).value ** 2)
    return { squares }
  })
  const addSquare = defineOp({
    name: 'AddSquare',
    operands: { x: 'tensor' },
    params: params<{ numbers: { readonly value: number } }>(),
    onnx: [{ domain: DOMAIN, since: 1, bind: { numbers: derive(() => ({ value: 3 })) } }],
    shape: ({ x: own }) => [shapes.tensorFact(own.type, own.shape)],
    pack,
    run({ x: own }, _, call) {
      const squares = call.packed!.squares.data as Float32Array
      const out = call.rawOutput().data as Float32Array
      for (let i = 0; i < out.length; i++) out[i] = (own.data as Float32Array)[i] + squares[i]
    }
  })

  test('of a call without constants are made once a session, and given back with it', async () => {
    const before = heapStats().used
    const bytes = model([node('AddSquare', ['x'], ['y'], {}, DOMAIN)], { initializers: [] })
    const session = await InferenceSession.create(bytes, { ops: [addSquare] })
    for (let i = 0; i < 6; i++) expect(numbers((await session.run({ x })).y)).toEqual(Array(SIZE).fill(10))
    expect(packings).toBe(1)
    session.dispose()
    expect(heapStats().used).toBe(before)
  })
})

describe('packed constants', () => {
  test('are made when the call first runs, and once a session', async () => {
    const session = await create(model([own(['x', 'w'], 'y')]))
    expect(packings).toBe(0)
    for (let i = 0; i < 3; i++) expect(numbers((await session.run({ x })).y)).toEqual(expected)
    expect(numbers((await session.run({ x }, ['y'], { onStep: () => undefined })).y)).toEqual(expected)
    expect([packings, plainRuns]).toEqual([1, 0])
  })

  test.each(['in pieces', 'own memory', 'taken over'] as const)('may be made %s', async how => {
    way = how
    const session = await create(model([own(['x', 'w'], 'y')]))
    const results = await Promise.all([session.run({ x }), session.run({ x })])
    for (const { y } of results) expect(numbers(y)).toEqual(expected)
    expect([packings, plainRuns]).toEqual([1, 0])
  })

  test.each([
    ['before', [node('Add', ['x', 'w'], ['a']), own(['a', 'w'], 'y')], 0],
    ['behind', [own(['x', 'w'], 'a'), node('Add', ['a', 'w'], ['y'])], 1]
  ] as const)('leave others the constant as it is, read %s them', async (_, nodes, count) => {
    way = 'taken over'
    const session = await create(model(nodes))
    const sums = new Array<number>(SIZE).fill(SIZE)
    for (let i = 0; i < 2; i++) expect(numbers((await session.run({ x })).y)).toEqual(sums)
    expect([packings, takenOver]).toEqual([1, count])
  })

  test('are the constant itself where it is taken over: there is no copy of it', async () => {
    way = 'taken over'
    // w and y fit, and nothing else.
    const session = await create(model([own(['x', 'w'], 'y')]), 2 * 4 * SIZE)
    for (let i = 0; i < 2; i++) expect(numbers((await session.run({ x })).y)).toEqual(expected)
    expect([packings, plainRuns, takenOver]).toEqual([1, 0, 1])
  })

  test('are not taken over where memory has no room for the constant: it is not read', async () => {
    way = 'taken over'
    const read = vi.spyOn(Weights.prototype, 'readApart')
    const session = await create(model([own(['x', 'w'], 'y')]), 4 * SIZE - 1)
    await expect(session.run({ x })).rejects.toMatchObject({ code: 'limit-exceeded' })
    expect(read).not.toHaveBeenCalled()
    read.mockRestore()
  })

  test('take the place of constants before the next ones are read', async () => {
    const used: number[] = []
    const noting = defineOp({
      name: 'AddReversed',
      operands: addReversed.operands,
      onnx: [{ domain: DOMAIN, since: 1, bind: {} }],
      shape: addReversed.shape,
      pack: addReversed.pack!,
      run(operands, parameters, call) {
        used.push(heapStats().used)
        return addReversed.run(operands, parameters, call)
      }
    })
    const bytes = new Uint8Array(Float32Array.from(weights).buffer)
    const initializers = ['u', 'v', 'w'].map(name => ({ name, dims: [SIZE], dataType: 1, rawData: bytes }))
    const nodes = [own(['x', 'u'], 'a'), own(['a', 'v'], 'b'), own(['b', 'w'], 'y')]
    const session = await InferenceSession.create(model(nodes, { initializers }), { ops: [noting] })
    expect(numbers((await session.run({ x })).y)).toEqual(expected.map(value => 3 * value - 2))
    // What is packed of the third, and no constant.
    expect(used[2] - used[1]).toBeLessThan(2 * bytes.byteLength)
    session.dispose()
  })

  test('are shared by calls that pack the same', async () => {
    const session = await create(model([own(['x', 'w'], 'm'), own(['m', 'w'], 'y')]))
    expect(numbers((await session.run({ x })).y)).toEqual(expected.map(value => 2 * value - 1))
    expect(packings).toBe(1)
  })

  test('are shared by calls whose parameters hold the same, in lists and records of their own', async () => {
    const addTagged = defineOp({
      name: 'AddTagged',
      operands: addReversed.operands,
      params: params<{ parts: readonly { readonly tag: string | undefined; readonly sizes: readonly number[] }[] }>(),
      onnx: [
        {
          domain: DOMAIN,
          since: 1,
          bind: { parts: derive(({ get }) => [{ tag: get(text('tag')), sizes: [1, 2] }]) }
        }
      ],
      shape: addReversed.shape,
      pack: addReversed.pack!,
      run: addReversed.run
    })
    const tagged = (x: string, output: string, tag: string): object =>
      node('AddTagged', [x, 'w'], [output], { tag }, DOMAIN)
    const nodes = [tagged('x', 'a', 'one'), tagged('a', 'b', 'one'), tagged('b', 'y', 'other')]
    const session = await InferenceSession.create(model(nodes), { ops: [addTagged] })
    expect(numbers((await session.run({ x })).y)).toEqual(expected.map(value => 3 * value - 2))
    expect(packings).toBe(2)
  })

  test('are not made of what differs from run to run', async () => {
    const given = await create(model([own(['x', 'x'], 'y')]))
    expect(numbers((await given.run({ x })).y)[0]).toBe(2)
    const replaceable = await create(
      model([own(['x', 'w'], 'y')], { inputs: [port('x', 'float', [SIZE]), port('w', 'float', [SIZE])] })
    )
    expect(numbers((await replaceable.run({ x, w: x })).y)[0]).toBe(2)
    expect([packings, plainRuns]).toEqual([0, 2])
    // An initializer that is not given is a constant.
    for (let i = 0; i < 2; i++) expect(numbers((await replaceable.run({ x })).y)).toEqual(expected)
    expect(numbers((await replaceable.run({ x, w: x })).y)[0]).toBe(2)
    expect([packings, plainRuns]).toEqual([1, 3])
  })

  test('may be declined', async () => {
    way = 'nothing'
    const session = await create(model([own(['x', 'w'], 'y')]))
    for (let i = 0; i < 2; i++) expect(numbers((await session.run({ x })).y)).toEqual(expected)
    expect([packings, plainRuns]).toEqual([1, 2])
  })

  test('a failure has the place of the node', async () => {
    way = 'failing'
    const session = await create(model([own(['x', 'w'], 'y')]))
    await expect(session.run({ x })).rejects.toThrow('cannot pack')
    way = 'at once'
    expect(numbers((await session.run({ x })).y)).toEqual(expected)
    expect(packings).toBe(2)
  })

  test('count against the budget: without room for them the call runs unpacked', async () => {
    way = 'too large'
    const session = await create(model([own(['x', 'w'], 'y')]), 2.5 * 4 * SIZE)
    for (let i = 0; i < 2; i++) expect(numbers((await session.run({ x })).y)).toEqual(expected)
    expect(plainRuns).toBe(2)
    expect(packings).toBe(1)
  })

  test('stand for the constant: it is let go of when memory is needed, and not read again', async () => {
    // w, packed w and y fit; packed w and three results do, only without w.
    const session = await create(
      model([own(['x', 'w'], 'y'), node('Abs', ['y'], ['a']), node('Concat', ['a', 'y', 'x'], ['z'], { axis: 0 })], {
        outputs: [port('y', 'float'), port('z', 'float')]
      }),
      6 * 4 * SIZE
    )
    for (let i = 0; i < 3; i++) expect(numbers((await session.run({ x }, ['y', 'z'])).y)).toEqual(expected)
    expect([packings, plainRuns]).toEqual([1, 0])
  })

  test('give way, for good, when a run needs the memory', async () => {
    const session = await create(
      model([own(['x', 'w'], 'y'), node('Concat', ['y', 'x', 'x', 'x'], ['z'], { axis: 0 })]),
      6 * 4 * SIZE
    )
    expect(numbers((await session.run({ x })).y)).toEqual(expected)
    expect(numbers((await session.run({ x }, ['z'])).z).slice(0, 4)).toEqual(expected.slice(0, 4))
    expect(plainRuns).toBe(0)
    expect(numbers((await session.run({ x })).y)).toEqual(expected)
    expect(packings).toBe(1)
  })

  test('are made again where a run was stopped while it made them', async () => {
    way = 'in pieces'
    const session = await create(model([own(['x', 'w'], 'y')]))
    const stop = new AbortController()
    onPiece = () => stop.abort()
    await expect(session.run({ x }, { signal: stop.signal })).rejects.toMatchObject({ code: 'aborted' })
    expect(numbers((await session.run({ x })).y)).toEqual(expected)
    expect([packings, plainRuns]).toEqual([2, 0])
  })
})
