import { describe, expect, test } from 'vitest'
import type { CheckResult } from '../../src/check/result.ts'
import { check, type CheckOptions } from '../../src/index.ts'
import { load } from '../../src/load.ts'
import { mapPort, mapsPort, vectorized, zipped } from '../fixtures/maps.ts'
import { int64s, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'

const checked = async (parts: ModelParts, options?: CheckOptions): Promise<CheckResult> =>
  check(await onnxModel(parts), options)
const errors = ({ findings }: CheckResult): unknown[] =>
  findings
    .filter(({ severity }) => severity === 'error')
    .map(({ code, message, place }) => [code, place.value ?? place.node, message])

const gather = (declared: readonly (number | string)[], extra: Partial<ModelParts> = {}): ModelParts => ({
  inputs: [port('data', 'float', [6, 'n']), port('ids', 'int64', [4])],
  outputs: [port('y', 'float', declared)],
  nodes: [node('Gather', ['data', 'ids'], ['y'])],
  ...extra
})

describe('a declared type', () => {
  test('that holds gives no finding', async () => {
    expect((await checked(gather([4, 'n']))).findings).toEqual([])
  })

  test('whose dim cannot be true is found at its value', async () => {
    expect(errors(await checked(gather([5, 'n'])))).toEqual([
      ['dims-mismatch', 'y', 'dim 0 of value "y" is declared 5; it is 4']
    ])
  })

  test('that is looser, or names a dim as it likes, is no fault', async () => {
    expect(errors(await checked(gather(['anything', 'm'])))).toEqual([])
  })

  test('that is tighter than what can be proved is no fault', async () => {
    expect(errors(await checked(gather([4, 7])))).toEqual([])
  })

  test('of the wrong rank or element type is found', async () => {
    expect(errors(await checked(gather([4, 'n', 1])))).toEqual([
      ['rank-mismatch', 'y', 'value "y" is declared [4, n, 1]; its dims are [4, n]']
    ])
    expect(errors(await checked({ ...gather([4, 'n']), outputs: [port('y', 'int64', [4, 'n'])] }))).toEqual([
      ['type-mismatch', 'y', 'value "y" is declared int64; its type is float32']
    ])
  })
})

describe('a declared map', () => {
  test('that holds gives no finding, also where it leaves the type of its values open', async () => {
    expect((await checked(zipped())).findings).toEqual([])
    expect((await checked(vectorized())).findings).toEqual([])
    const open = { sequenceType: { elemType: { mapType: { keyType: 7, valueType: { tensorType: {} } } } } }
    expect((await checked(zipped({ name: 'probabilities', type: open }))).findings).toEqual([])
  })

  test('of other keys or values, or that is none, is found', async () => {
    expect(errors(await checked(zipped(mapsPort('probabilities', 'string', 'float'))))).toEqual([
      [
        'type-mismatch',
        'probabilities',
        'the element of value "probabilities" is declared map(string,float32); it is map(int64,float32)'
      ]
    ])
    expect(errors(await checked(zipped(mapsPort('probabilities', 'int64', 'int32'))))).toHaveLength(1)
    expect(errors(await checked(zipped(mapPort('probabilities', 'int64', 'float'))))).toEqual([
      ['type-mismatch', 'probabilities', 'value "probabilities" is declared a map; it is a sequence']
    ])
    expect(errors(await checked(zipped(port('probabilities', 'float', ['n', 2]))))).toEqual([
      ['type-mismatch', 'probabilities', 'value "probabilities" is declared a tensor; it is a sequence']
    ])
    const optional = { optionalType: { elemType: { tensorType: { elemType: 1 } } } }
    expect(errors(await checked(zipped({ name: 'probabilities', type: optional })))).toEqual([
      ['type-mismatch', 'probabilities', 'value "probabilities" is declared an optional; it is a sequence']
    ])
  })

  test('is held against what operators take', async () => {
    expect(errors(await checked(vectorized(mapPort('x', 'int64', 'int32'))))).toMatchObject([
      ['type-not-allowed', 'DictVectorizer_y', expect.stringContaining('X has type map(int64,int32)')]
    ])
  })

  test('is listed with its type, and has no rank that could be unknown', async () => {
    const { values, summary } = await checked(zipped())
    expect(values.map(({ type }) => type)).toEqual(['float32', 'seq(map(int64,float32))'])
    expect(summary.unknownShapes).toBe(0)
  })
})

describe('one fault gives one finding', () => {
  const chain = (middle: readonly (number | string)[], last: readonly (number | string)[]): ModelParts => ({
    inputs: [port('data', 'float', [6, 3]), port('ids', 'int64', [4])],
    values: [port('a', 'float', middle), port('b', 'float', [2, 3])],
    outputs: [port('c', 'float', last)],
    initializers: [int64s('two', [2], [0, 1])],
    nodes: [
      node('Gather', ['data', 'ids'], ['a']),
      node('Gather', ['a', 'two'], ['b']),
      node('Gather', ['b', 'two'], ['c'])
    ]
  })

  test('also where consumers declare what follows from the truth', async () => {
    expect(errors(await checked(chain([4, 9], [2, 3]))).length).toBe(1)
  })

  test('and two independent faults give two', async () => {
    expect(errors(await checked(chain([4, 9], [2, 5]))).map(error => (error as string[])[1])).toEqual(['a', 'c'])
  })

  test('also where all that follows declares what follows from the fault', async () => {
    const wrong = chain([4, 9], [2, 9])
    expect(
      errors(await checked({ ...wrong, values: [port('a', 'float', [4, 9]), port('b', 'float', [2, 9])] })).length
    ).toBe(1)
  })
})

test('a constant index out of range is found without a run', async () => {
  const result = await checked(
    gather([1, 'n'], { inputs: [port('data', 'float', [6, 'n'])], initializers: [int64s('ids', [1], [6])] })
  )
  expect(errors(result)).toEqual([
    [
      'index-out-of-range',
      'Gather_y',
      'index 6 at [0] is out of range for axis 0 of size 6; the index comes from "ids" (initializer)'
    ]
  ])
})

test('an index out of range is said to come from a constant or from the node that made it', async () => {
  const ids = node('Constant', [], ['ids'], { value_ints: [6] })
  const given = { inputs: [port('data', 'float', [6, 'n'])] }
  const from = async (nodes: object[]): Promise<unknown> =>
    (errors(await checked(gather([1, 'n'], { ...given, nodes })))[0] as string[])[2]
  const gathered = node('Gather', ['data', 'ids'], ['y'])
  const fault = 'index 6 at [0] is out of range for axis 0 of size 6; the index comes from "ids"'
  expect(await from([ids, gathered])).toBe(`${fault} (constant)`)
  const sum = node('Add', ['three', 'three'], ['ids'])
  const three = node('Constant', [], ['three'], { value_ints: [3] })
  const turned = node('Neg', ['data'], ['turned'])
  expect(await from([turned, three, sum, gathered])).toBe(
    `${fault} (output of Add "${(sum as { name: string }).name}")`
  )
})

test('structural faults are findings: a duplicate name, a cycle, a missing producer', async () => {
  const codes = async (nodes: object[]): Promise<string[]> =>
    (
      await checked({
        inputs: [port('data', 'float', [6]), port('ids', 'int64', [1])],
        outputs: [port('y', 'float')],
        nodes
      })
    ).findings
      .filter(({ severity }) => severity === 'error')
      .map(({ code }) => code)
  expect(await codes([node('Gather', ['data', 'ids'], ['y']), node('Gather', ['data', 'ids'], ['y'])])).toContain(
    'duplicate-name'
  )
  expect(await codes([node('Gather', ['z', 'ids'], ['y']), node('Gather', ['y', 'ids'], ['z'])])).toContain('cycle')
  expect(await codes([node('Gather', ['nowhere', 'ids'], ['y'])])).toContain('missing-producer')
})

describe('an operator without a binding', () => {
  const model = (domain: string): Promise<CheckResult> =>
    checked({
      domains: ['my.domain'],
      inputs: [port('x', 'float', [2])],
      values: [port('h', 'float', [6, 3])],
      initializers: [int64s('ids', [1], [0])],
      outputs: [port('y', 'float', [1, 4])],
      nodes: [node('NoSuchOp', ['x'], ['h'], {}, domain), node('Gather', ['h', 'ids'], ['y'])]
    })
  const kinds = ({ findings }: CheckResult): string[] => findings.map(({ code, severity }) => `${severity} ${code}`)

  test('is a note in a domain of its own, and what its outputs declare stands', async () => {
    expect(kinds(await model('my.domain'))).toEqual(['note unsupported-op', 'error dims-mismatch'])
  })

  test('is an error where the standard has no such operator', async () => {
    expect(kinds(await model(''))).toEqual(['error unknown-op', 'error dims-mismatch'])
  })
})

test('input shapes can be given, and an input that is not there is refused', async () => {
  const result = await checked(gather([4, 'n']), { inputShapes: new Map([['data', [6, 10]]]) })
  expect(result.values.find(({ name }) => name === 'y')?.dims).toEqual([4, 10])
  await expect(checked(gather([4, 'n']), { inputShapes: new Map([['none', [1]]]) })).rejects.toMatchObject({
    code: 'unexpected-input'
  })
})

describe('a bare layer of an IR', () => {
  const precision = (type?: string): string => (type === undefined ? '' : ` precision="${type}"`)
  const layer = (out: number[], read?: string, made?: string): Promise<CheckResult> =>
    load(
      new TextEncoder().encode(`<layer id="1" name="g" type="Gather" version="opset1">
  <input><port id="0"${precision(read)}><dim>6</dim><dim>12</dim><dim>10</dim></port>
    <port id="1"><dim>15</dim><dim>4</dim></port><port id="2"/></input>
  <output><port id="2"${precision(made)}>${out.map(dim => `<dim>${dim}</dim>`).join('')}</port></output>
</layer>`),
      { name: 'layer.xml' }
    ).then(model => check(model))

  test('tells which axis its declared dims allow', async () => {
    const result = await layer([6, 15, 4, 10])
    expect(errors(result)).toEqual([])
    expect(result.values.map(({ note }) => note).filter(note => note !== undefined)).toEqual([
      'only axis 1 fits the declared dims of Gather "g"'
    ])
    expect(result.values.at(-1)?.dims).toEqual([6, 15, 4, 10])
  })

  test('is wrong where no axis could make it true', async () => {
    expect(errors(await layer([6, 15, 4, 12]))).toEqual([
      ['dims-mismatch', 'g', 'no axis gives value "g" its declared dims [6, 15, 4, 12]']
    ])
  })

  test('is known by the dims, though the declared type is false', async () => {
    const typed = await layer([6, 15, 4, 10], 'FP32', 'I32')
    expect(errors(typed)).toEqual([['type-mismatch', 'g', 'value "g" is declared i32; its type is f32']])
  })
})

test('a false dim of an IR is found at the line and column of the dim', async () => {
  const xml = `<net name="m" version="11">
  <layers>
    <layer id="0" name="data" type="Parameter" version="opset1"><data shape="6,12" element_type="f32"/>
      <output><port id="0" precision="FP32"><dim>6</dim><dim>12</dim></port></output></layer>
    <layer id="1" name="ids" type="Parameter" version="opset1"><data shape="6,5" element_type="i64"/>
      <output><port id="0" precision="I64"><dim>6</dim><dim>5</dim></port></output></layer>
    <layer id="2" name="g" type="GatherElements" version="opset6"><data axis="1"/>
      <input><port id="0"><dim>6</dim><dim>12</dim></port><port id="1"><dim>6</dim><dim>5</dim></port></input>
      <output><port id="2" precision="FP32">
        <dim>6</dim>
        <dim>7</dim></port></output></layer>
    <layer id="3" name="r" type="Result" version="opset1">
      <input><port id="0"><dim>6</dim><dim>7</dim></port></input></layer>
  </layers>
  <edges>
    <edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
    <edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
    <edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
  </edges>
</net>`
  const { findings } = check(await load(new TextEncoder().encode(xml), { name: 'm.xml' }))
  expect(
    findings
      .filter(({ severity }) => severity === 'error')
      .map(({ code, place }) => [code, place.line, place.column, place.layer])
  ).toEqual([['dims-mismatch', 11, 9, '2']])
})
