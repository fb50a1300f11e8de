import { afterEach, describe, expect, test, vi } from 'vitest'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { randomSource } from '../../src/runtime/random.ts'
import { FixedJob } from '../../src/wasm/fixed-jobs.ts'
import { floats, int64s, node, onnxBytes, port } from '../fixtures/onnx.ts'

const random = randomSource(23)()
const TYPES = {
  float: 'float32',
  double: 'float64',
  int32: 'int32',
  int64: 'int64',
  uint8: 'uint8',
  int8: 'int8'
} as const
type Type = keyof typeof TYPES

/** An input: its type and dims. */
type Input = readonly [type: Type, dims: readonly number[]]

const MEANS: Readonly<Record<Type, number>> = { float: 0, double: 0, int32: 0, int64: 0, uint8: 128, int8: 0 }

function valueOf([type, dims]: Input): Tensor {
  const isWhole = type !== 'float' && type !== 'double'
  const count = dims.reduce((product, dim) => product * dim, 1)
  const values = Array.from({ length: count }, () => {
    const value = MEANS[type] + random() * 100 - 50
    return isWhole ? Math.round(value) : value / 25
  })
  return new Tensor(TYPES[type], values, dims)
}

const numbers = (count: number): number[] => Array.from({ length: count }, () => random() * 2 - 1)
const codes = (name: string, dims: readonly number[], dataType: number, values?: readonly number[]): object => {
  const count = dims.reduce((product, dim) => product * dim, 1)
  return { name, dims, dataType, int32Data: values ?? numbers(count).map(x => Math.round(x * 100)) }
}
const [UINT8, INT8, INT32] = [2, 3, 6]
const quantization = [
  floats('s', [], [0.5]),
  floats('t', [], [0.75]),
  codes('z', [], UINT8, [120]),
  codes('v', [], UINT8, [131])
]

interface Case {
  readonly inputs: Readonly<Record<string, Input>>
  readonly initializers?: readonly object[]
  readonly type: string
  readonly operands: readonly string[]
  readonly attributes?: Parameters<typeof node>[3]
  readonly domain?: string
  /** Jobs of a run; 1 where left out. */
  readonly jobs?: number
}

const CASES: Readonly<Record<string, Case>> = {
  LRN: { inputs: { x: ['float', [1, 8, 8, 8]] }, type: 'LRN', operands: ['x'], attributes: { size: 3 } },
  CumSum: {
    inputs: { x: ['int64', [4, 200]] },
    initializers: [int64s('axis', [], [1])],
    type: 'CumSum',
    operands: ['x', 'axis']
  },
  'DFT along one axis': {
    inputs: { x: ['float', [4, 128, 1]] },
    type: 'DFT',
    operands: ['x'],
    attributes: { axis: 1 }
  },
  STFT: {
    inputs: { x: ['float', [1, 512, 1]] },
    initializers: [int64s('step', [], [64]), floats('window', [64], numbers(64))],
    type: 'STFT',
    operands: ['x', 'step', 'window']
  },
  'MatMul of float64': {
    inputs: { x: ['double', [8, 16]], y: ['double', [16, 32]] },
    type: 'MatMul',
    operands: ['x', 'y']
  },
  'Gemm of float64 that turns and adds': {
    inputs: { x: ['double', [16, 16]], y: ['double', [32, 16]], c: ['double', [16, 32]] },
    type: 'Gemm',
    operands: ['x', 'y', 'c'],
    attributes: { transB: 1 },
    jobs: 3
  },
  'Einsum of two operands': {
    inputs: { x: ['float', [4, 8, 16]], y: ['float', [4, 16, 3, 8]] },
    type: 'Einsum',
    operands: ['x', 'y'],
    attributes: { equation: 'bij,bjkl->bikl' }
  },
  'Einsum of three operands': {
    inputs: { x: ['float', [16, 16]], y: ['float', [16, 16]], z: ['float', [16, 16]] },
    type: 'Einsum',
    operands: ['x', 'y', 'z'],
    attributes: { equation: 'ij,jk,kl->il' },
    jobs: 2
  },
  'MaxPool of float32': {
    inputs: { x: ['float', [1, 4, 16, 16]] },
    type: 'MaxPool',
    operands: ['x'],
    attributes: { kernel_shape: [3, 3], strides: [2, 2] }
  },
  'MaxPool of bytes': {
    inputs: { x: ['uint8', [1, 4, 16, 16]] },
    type: 'MaxPool',
    operands: ['x'],
    attributes: { kernel_shape: [3, 3], strides: [2, 2] }
  },
  'MaxPool over three axes': {
    inputs: { x: ['float', [1, 4, 8, 8, 8]] },
    type: 'MaxPool',
    operands: ['x'],
    attributes: { kernel_shape: [2, 2, 2], strides: [2, 2, 2] },
    jobs: 2
  },
  'Pow by one constant': {
    inputs: { x: ['float', [4, 64]] },
    initializers: [floats('two', [], [2])],
    type: 'Pow',
    operands: ['x', 'two']
  },
  'Pow of integers, cubed': {
    inputs: { x: ['int32', [4, 512]] },
    initializers: [int64s('three', [], [3])],
    type: 'Pow',
    operands: ['x', 'three'],
    jobs: 2
  },
  'Clip of integers': {
    inputs: { x: ['int64', [4, 512]] },
    initializers: [int64s('low', [], [-20]), int64s('high', [], [30])],
    type: 'Clip',
    operands: ['x', 'low', 'high']
  },
  'ReduceSum of axes that lie apart': {
    inputs: { x: ['float', [8, 16, 8]] },
    initializers: [int64s('axes', [2], [0, 2])],
    type: 'ReduceSum',
    operands: ['x', 'axes'],
    jobs: 2
  },
  'Resize of two axes': {
    inputs: { x: ['float', [1, 4, 16, 16]] },
    initializers: [floats('scales', [4], [1, 1, 1.5, 1.75])],
    type: 'Resize',
    operands: ['x', '', 'scales'],
    attributes: { mode: 'linear' },
    jobs: 2
  },
  LinearRegressor: {
    inputs: { x: ['float', [8, 64]] },
    type: 'LinearRegressor',
    operands: ['x'],
    attributes: { targets: 4, coefficients: { floats: numbers(256) }, intercepts: { floats: numbers(4) } },
    domain: 'ai.onnx.ml'
  },
  ConvInteger: {
    inputs: { x: ['uint8', [1, 4, 9, 9]] },
    initializers: [codes('w', [8, 4, 3, 3], INT8), codes('z', [], UINT8, [120])],
    type: 'ConvInteger',
    operands: ['x', 'w', 'z']
  },
  QLinearConv: {
    inputs: { x: ['uint8', [1, 4, 9, 9]] },
    initializers: [...quantization, codes('w', [8, 4, 3, 3], INT8), codes('o', [], INT8, [0]), codes('b', [8], INT32)],
    type: 'QLinearConv',
    operands: ['x', 's', 'z', 'w', 's', 'o', 't', 'v', 'b']
  },
  'QLinearConv, depthwise': {
    inputs: { x: ['uint8', [1, 8, 9, 9]] },
    initializers: [...quantization, codes('w', [8, 1, 3, 3], INT8), codes('o', [], INT8, [0])],
    type: 'QLinearConv',
    operands: ['x', 's', 'z', 'w', 's', 'o', 't', 'v'],
    attributes: { group: 8 }
  },
  QLinearConcat: {
    inputs: { x: ['uint8', [2, 16]], y: ['uint8', [2, 24]] },
    initializers: quantization,
    type: 'QLinearConcat',
    operands: ['t', 'v', 'x', 's', 'z', 'y', 't', 'v'],
    attributes: { axis: 1 },
    domain: 'com.microsoft',
    jobs: 2
  },
  QLinearGlobalAveragePool: {
    inputs: { x: ['uint8', [1, 8, 9, 9]] },
    initializers: quantization,
    type: 'QLinearGlobalAveragePool',
    operands: ['x', 's', 'z', 't', 'v'],
    domain: 'com.microsoft'
  },
  QLinearAveragePool: {
    inputs: { x: ['uint8', [1, 8, 9, 9]] },
    initializers: quantization,
    type: 'QLinearAveragePool',
    operands: ['x', 's', 'z', 't', 'v'],
    attributes: { kernel_shape: [3, 3] },
    domain: 'com.microsoft'
  }
}

/** Elements that decide jobs are given in each run. */
const GIVEN: Readonly<Record<string, Case>> = {
  'QLinearConv whose scale is given': {
    ...CASES.QLinearConv,
    inputs: { ...CASES.QLinearConv.inputs, given: ['float', []] },
    operands: ['x', 'given', 'z', 'w', 's', 'o', 't', 'v', 'b']
  },
  'ConvInteger whose zero point is given': {
    ...CASES.ConvInteger,
    inputs: { ...CASES.ConvInteger.inputs, given: ['uint8', []] },
    operands: ['x', 'w', 'given']
  },
  'QLinearConcat, the zero point of whose second part is given': {
    ...CASES.QLinearConcat,
    inputs: { ...CASES.QLinearConcat.inputs, given: ['uint8', []] },
    operands: ['t', 'v', 'x', 's', 'z', 'y', 't', 'given']
  },
  'QLinearAveragePool whose scale is given': {
    ...CASES.QLinearAveragePool,
    inputs: { ...CASES.QLinearAveragePool.inputs, given: ['float', []] },
    operands: ['x', 'given', 'z', 't', 'v']
  },
  'Pow by one number that is given': {
    ...CASES['Pow by one constant'],
    inputs: { x: ['float', [4, 64]], given: ['float', []] },
    operands: ['x', 'given']
  },
  'Clip of integers whose bound is given': {
    ...CASES['Clip of integers'],
    inputs: { x: ['int64', [4, 512]], given: ['int64', []] },
    operands: ['x', 'low', 'given']
  }
}

const sessionOf = ({ inputs, initializers = [], type, operands, attributes, domain }: Case) =>
  InferenceSession.create(
    onnxBytes({
      ...(domain && { domains: [domain] }),
      inputs: Object.entries(inputs).map(([name, [element, dims]]) => port(name, element, dims)),
      outputs: [port('out', 'float')],
      initializers,
      nodes: [node(type, operands, ['out'], attributes ?? {}, domain)]
    }),
    { threads: 1 }
  )

/** Runs with other values, which give what a session gives that has not run before. @returns the jobs of each */
async function jobsOfRuns(of: InferenceSession, one: Case): Promise<number[]> {
  const run = vi.spyOn(FixedJob.prototype, 'run')
  const counts: number[] = []
  for (let i = 0; i < 6; i++) {
    const feeds = Object.fromEntries(Object.entries(one.inputs).map(([name, input]) => [name, valueOf(input)]))
    const before = run.mock.calls.length
    const { out } = await of.run(feeds)
    counts.push(run.mock.calls.length - before)
    const fresh = await sessionOf(one)
    const expected = (await fresh.run(feeds)).out
    fresh.dispose()
    expect([out.type, out.dims, out.data]).toEqual([expected.type, expected.dims, expected.data])
  }
  return counts
}

describe('a kernel is replayed by its jobs alone', () => {
  afterEach(() => void vi.restoreAllMocks())

  test.each(Object.entries(CASES))('%s', async (_, one) => {
    const of = await sessionOf(one)
    const { jobs = 1 } = one
    expect(await jobsOfRuns(of, one)).toEqual([0, 0, 0, jobs, jobs, jobs])
    of.dispose()
  })

  test.each(Object.entries(GIVEN))('but for %s', async (_, one) => {
    const of = await sessionOf(one)
    expect(await jobsOfRuns(of, one)).toEqual([0, 0, 0, 0, 0, 0])
    of.dispose()
  })
})
