import { expect, test } from 'vitest'
import { NodewiseError } from '../../src/errors.ts'
import type { Op } from '../../src/op-kit/define.ts'
import { ALL_OPS } from '../../src/ops/all.ts'
import type { DType } from '../../src/tensor/dtype.ts'
import { allocate, product, Tensor } from '../../src/tensor/tensor.ts'
import { noise, runAccelerated } from '../wasm/compare.ts'
import { type CallOptions, type Kind, runTensor } from './harness.ts'

const DIMS = [2, 3, 8, 16]
/** Dims that other operands may have: the same, broadcast from either end, one element. */
const OTHERS = [DIMS, [16], [8, 1], []]
const TYPES: readonly DType[] = ['float32', 'int32', 'uint32', 'bool']
/** Attributes without which some nodes are not valid. */
const ATTRIBUTES: Readonly<Record<string, CallOptions['attributes']>> = {
  BitShift: { direction: 'LEFT' },
  ParametricSoftplus: { alpha: 1, beta: 2 },
  ScaledTanh: { alpha: 1, beta: 2 },
  Imputer: { imputed_value_floats: [1], replaced_value_float: 0 }
}

/** Indices within dims, some of them negative, some of them equal. */
const indices = (dims: readonly number[]): Tensor =>
  new Tensor(
    'int64',
    BigInt64Array.from({ length: product(dims) }, (_, i) => BigInt((i % 3) - 1)),
    dims
  )
/** Inputs of operators that read indices, or take operands of these dims only. */
const GIVEN: Readonly<Record<string, (type: DType) => Tensor[]>> = {
  BiasAdd: type => [[6, 8, 16], [16], [6, 8, 16]].map((dims, i) => numbers(type, dims, i + 1)),
  ScatterElements: type => [numbers(type, DIMS, 1), indices([1, 3, 8, 16]), numbers(type, [1, 3, 8, 16], 3)],
  ScatterND: type => [numbers(type, DIMS, 1), indices([5, 2]), numbers(type, [5, 8, 16], 3)]
}

/** Elements of both signs, none zero, since some are divisors. */
function numbers(type: DType, dims: readonly number[], seed: number): Tensor {
  const tensor = allocate(type, dims)
  const drawn = noise(dims, seed, 5).data
  const sizes = Array.from(drawn, x => (type === 'float32' ? x : Math.sign(x) * Math.ceil(Math.abs(x))))
  ;(tensor.data as Float32Array).set(
    type === 'bool' ? sizes.map(x => Number(x > 0)) : type === 'uint32' ? sizes.map(Math.abs) : sizes
  )
  return tensor
}

const copyOf = ({ type, dims, data }: Tensor): Tensor => new Tensor(type, (data as Float32Array).slice() as never, dims)

function kindOf(op: Op): Kind {
  const version = op.onnx?.at(-1) ?? op.openvino!.at(-1)!
  return [op.onnx?.length ? 'onnx' : 'openvino', version.type ?? op.name, version.since, version.domain ?? ''].slice(
    0,
    version.domain === undefined ? 3 : 4
  ) as unknown as Kind
}

/** Calls of an operator which are valid, by trial: the operand at `position` has the dims of the result. */
function* callsOf(op: Op, position: number): Generator<{ inputs: Tensor[]; expected: Tensor; options: CallOptions }> {
  const names = Object.keys(op.operands)
  const required = names.filter(name => op.operands[name] === 'tensor').length
  for (const count of new Set([Math.max(required, position + 1), names.length]))
    for (const type of TYPES)
      for (const other of OTHERS) {
        const inputs =
          GIVEN[op.name]?.(type) ??
          Array.from({ length: count }, (_, i) => numbers(type, i === position ? DIMS : other, i + 1))
        const options = { attributes: ATTRIBUTES[op.name] }
        const expected = valid(() => runTensor(kindOf(op), inputs.map(copyOf), options))
        if (expected?.type === type && expected.dims.join() === inputs[position].dims.join())
          yield { inputs, expected, options }
      }
}

/** The result of the kernel in WebAssembly, where there is one for the call. */
function accelerated(op: Op, inputs: readonly Tensor[], options: CallOptions): Tensor | undefined {
  try {
    return runAccelerated(kindOf(op), inputs, options)[0] as Tensor
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('no accelerated kernel')) return undefined
    throw error
  }
}

function valid<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    if (error instanceof NodewiseError) return undefined
    throw error
  }
}

/** Their results are bool, their operands numbers: of one size at most, never of one type. */
const OF_ANOTHER_TYPE = ['Greater', 'GreaterOrEqual', 'IsFinite', 'IsInf', 'IsNaN', 'Less', 'LessOrEqual']
const WRITES_OVER = ALL_OPS.filter(op => op.inPlace !== undefined && !OF_ANOTHER_TYPE.includes(op.name))

test.each(WRITES_OVER.map(op => [op.name, op] as const))('%s may write over its operands', (_, op) => {
  const names = Object.keys(op.operands)
  for (const name of op.inPlace!) {
    const over = names.indexOf(name)
    let count = 0
    for (const { inputs, expected, options } of callsOf(op, over)) {
      const given = inputs.map(copyOf)
      const found = runTensor(kindOf(op), given, { ...options, over })
      expect(found.data, `${op.name}, ${inputs.map(x => `${x.type}[${x.dims}]`).join(' ')}`).toEqual(expected.data)
      expect(found.data).toBe(given[over].data)
      const apart = accelerated(op, inputs, options)
      if (apart)
        expect(accelerated(op, inputs, { ...options, over })!.data, `${op.name} in WebAssembly`).toEqual(apart.data)
      count++
    }
    expect(count, `calls of ${op.name} that were valid`).toBeGreaterThan(0)
  }
})
