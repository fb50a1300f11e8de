import { describe, expect, test } from 'vitest'
import { runCall } from '../../../src/infer/run.ts'
import { randomSource } from '../../../src/runtime/random.ts'
import { toNumbers } from '../../../src/tensor/elements.ts'
import { allocate, Tensor, type Value } from '../../../src/tensor/tensor.ts'
import { callOf, type CallOptions, dimsOf, errorOf, fact, inferOp, type Kind } from '../harness.ts'
import { ints, scalar } from '../values.ts'

/** Runs one node with the generators of a session of this seed. */
function draw(kind: Kind, inputs: readonly Value[], attributes: CallOptions['attributes'], sessionSeed = 1): Tensor {
  const steps = runCall(callOf(kind, inputs, { attributes }), inputs, {
    allocate,
    wanted: () => true,
    body: () => {
      throw new Error('no bodies')
    },
    state: { read: () => undefined, write: () => undefined },
    random: randomSource(sessionSeed),
    threads: 1
  })
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value[0] as Tensor
}

const numbersOf = (tensor: Tensor): number[] => [...toNumbers(tensor)]
const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length
const BFLOAT16 = 16
const INT64 = 7

describe('RandomUniform and RandomNormal', () => {
  test('fill the range evenly', () => {
    const values = numbersOf(draw(['onnx', 'RandomUniform', 1], [], { shape: [100, 100], low: -2, high: 4 }))
    expect(values.length).toBe(10000)
    expect(Math.min(...values)).toBeGreaterThanOrEqual(-2)
    expect(Math.max(...values)).toBeLessThanOrEqual(4)
    for (let part = 0; part < 6; part++)
      expect(values.filter(value => Math.floor(value) === part - 2).length / 10000).toBeCloseTo(1 / 6, 1)
  })

  test('have the mean and the deviation that are asked for', () => {
    const values = numbersOf(draw(['onnx', 'RandomNormal', 1], [], { shape: [20001], mean: 3, scale: 2 }))
    expect(mean(values)).toBeCloseTo(3, 1)
    expect(Math.sqrt(mean(values.map(value => (value - 3) ** 2)))).toBeCloseTo(2, 1)
    expect(values.filter(value => Math.abs(value - 3) < 2).length / values.length).toBeCloseTo(0.683, 1)
  })

  test('a seed fixes the numbers whatever the session; without one the session does', () => {
    const attributes = { shape: [4] }
    const seeded = numbersOf(draw(['onnx', 'RandomNormal', 1], [], { ...attributes, seed: 7.5 }, 1))
    expect(numbersOf(draw(['onnx', 'RandomNormal', 1], [], { ...attributes, seed: 7.5 }, 2))).toEqual(seeded)
    expect(numbersOf(draw(['onnx', 'RandomNormal', 1], [], { ...attributes, seed: 7 }, 1))).not.toEqual(seeded)
    const free = numbersOf(draw(['onnx', 'RandomNormal', 1], [], attributes, 1))
    expect(numbersOf(draw(['onnx', 'RandomNormal', 1], [], attributes, 1))).toEqual(free)
    expect(numbersOf(draw(['onnx', 'RandomNormal', 1], [], attributes, 2))).not.toEqual(free)
  })

  test('are of any float type; bfloat16 came with version 22', () => {
    expect(draw(['onnx', 'RandomUniform', 1], [], { shape: [2], dtype: 11 }).type).toBe('float64')
    expect(draw(['onnx', 'RandomUniform', 1], [], { shape: [2], dtype: 10 }).type).toBe('float16')
    expect(draw(['onnx', 'RandomUniform', 22], [], { shape: [2], dtype: BFLOAT16 }).type).toBe('bfloat16')
    expect(errorOf(() => draw(['onnx', 'RandomUniform', 21], [], { shape: [2], dtype: BFLOAT16 })).code).toBe(
      'type-not-allowed'
    )
    expect(errorOf(() => draw(['onnx', 'RandomUniform', 22], [], { shape: [2], dtype: INT64 })).code).toBe(
      'type-not-allowed'
    )
    expect(errorOf(() => draw(['onnx', 'RandomUniform', 22], [], { shape: [-2] })).code).toBe('value-out-of-range')
  })

  test('their Like kin take shape and type from the input', () => {
    const like = new Tensor('float16', new Uint16Array(6), [2, 3])
    expect(draw(['onnx', 'RandomNormalLike', 1], [like], {})).toMatchObject({ type: 'float16', dims: [2, 3] })
    expect(draw(['onnx', 'RandomUniformLike', 1], [new Tensor('string', ['a', 'b'])], { dtype: 1 })).toMatchObject({
      type: 'float32',
      dims: [2]
    })
    expect(errorOf(() => draw(['onnx', 'RandomUniformLike', 1], [ints(1, 2)], {})).code).toBe('type-not-allowed')
  })

  test('are never folded into constants', () => {
    expect(inferOp(['onnx', 'RandomUniform', 1], [], { attributes: { shape: [2, 3] } })).toEqual([
      fact('float32', [2, 3])
    ])
  })
})

describe('Bernoulli', () => {
  test('gives ones with the probability of each element', () => {
    const values = numbersOf(
      draw(['onnx', 'Bernoulli', 15], [new Tensor('float32', new Float32Array(10000).fill(0.3))], {})
    )
    expect(mean(values)).toBeCloseTo(0.3, 1)
    expect(new Set(values)).toEqual(new Set([0, 1]))
  })

  test('0 and 1 leave no choice, in any type', () => {
    for (const dtype of [1, 6, 7, 9, 10, 11]) {
      const out = draw(['onnx', 'Bernoulli', 15], [new Tensor('float64', [0, 1, 0, 1])], { dtype })
      expect([...(out.data as Float32Array)].map(value => Number(value) !== 0)).toEqual([false, true, false, true])
    }
  })

  test('what is no probability is refused', () => {
    expect(errorOf(() => draw(['onnx', 'Bernoulli', 15], [new Tensor('float32', [0.5, 1.5])], {})).code).toBe(
      'value-out-of-range'
    )
    expect(errorOf(() => draw(['onnx', 'Bernoulli', 15], [new Tensor('float32', [NaN])], {})).code).toBe(
      'value-out-of-range'
    )
  })
})

describe('Multinomial', () => {
  test('ONNX takes unnormalized logarithms', () => {
    const row = new Tensor('float32', [Math.log(1) + 900, Math.log(3) + 900, -Infinity], [1, 3])
    const values = [...(draw(['onnx', 'Multinomial', 7], [row], { sample_size: 4000 }).data as Int32Array)]
    expect(values.filter(value => value === 1).length / 4000).toBeCloseTo(0.75, 1)
    expect(values).not.toContain(2)
  })

  const IR: Kind = ['openvino', 'Multinomial', 13]
  const attributes = { convert_type: 'i64', with_replacement: true, log_probs: false, global_seed: 3, op_seed: 4 }

  test('IR takes weights that need not add up to 1', () => {
    const out = draw(IR, [new Tensor('float32', [2, 6, 0, 0, 0, 5], [2, 3]), scalar(4000)], attributes)
    expect([out.type, out.dims]).toEqual(['int64', [2, 4000]])
    const values = [...(out.data as BigInt64Array)].map(Number)
    expect(values.slice(0, 4000).filter(value => value === 1).length / 4000).toBeCloseTo(0.75, 1)
    expect(new Set(values.slice(4000))).toEqual(new Set([2]))
  })

  test('without replacement every class comes once', () => {
    const out = draw(IR, [new Tensor('float32', [1, 2, 3, 4], [1, 4]), scalar(4)], {
      ...attributes,
      with_replacement: false
    })
    expect([...(out.data as BigInt64Array)].map(Number).sort()).toEqual([0, 1, 2, 3])
    expect(
      errorOf(() =>
        draw(IR, [new Tensor('float32', [1, 2], [1, 2]), scalar(3)], { ...attributes, with_replacement: false })
      ).code
    ).toBe('value-out-of-range')
    expect(
      errorOf(() =>
        draw(IR, [new Tensor('float32', [1, 0], [1, 2]), scalar(2)], { ...attributes, with_replacement: false })
      ).code
    ).toBe('value-out-of-range')
  })

  test('seeds fix the draws; both 0 leave them to the session', () => {
    const weights = new Tensor('float32', new Float32Array(1000).fill(1), [1, 1000])
    const run = (seeds: object, session: number): number[] =>
      [...(draw(IR, [weights, scalar(4)], { ...attributes, ...seeds }, session).data as BigInt64Array)].map(Number)
    expect(run({}, 1)).toEqual(run({}, 2))
    expect(run({ op_seed: 5 }, 1)).not.toEqual(run({}, 1))
    expect(run({ global_seed: 0, op_seed: 0 }, 1)).not.toEqual(run({ global_seed: 0, op_seed: 0 }, 2))
  })

  test('weights that are no distribution are refused', () => {
    for (const weights of [
      [0, 0],
      [-1, 2],
      [NaN, 1],
      [Infinity, 1]
    ]) {
      expect(errorOf(() => draw(IR, [new Tensor('float32', weights, [1, 2]), scalar(1)], attributes)).code).toBe(
        'value-out-of-range'
      )
    }
    expect(errorOf(() => draw(IR, [new Tensor('float32', [1, 2]), scalar(1)], attributes)).code).toBe('rank-mismatch')
    expect(errorOf(() => draw(IR, [new Tensor('float32', [1], [1, 1]), scalar(-1)], attributes)).code).toBe(
      'value-out-of-range'
    )
  })

  test('its shape is the batch and the number of samples', () => {
    expect(dimsOf(inferOp(IR, [fact('float32', ['n', 5]), scalar(7)], { attributes })[0])).toEqual(['n', 7])
  })
})

describe('OpenVINO RandomUniform', () => {
  const UNIFORM: Kind = ['openvino', 'RandomUniform', 8]
  const uniform = (
    low: Tensor,
    high: Tensor,
    count: number,
    attributes: CallOptions['attributes'],
    session = 1
  ): number[] => [...(draw(UNIFORM, [ints(count), low, high], attributes, session).data as Float64Array)].map(Number)
  const f32 = (value: number): Tensor => scalar(value, 'float32')

  test("gives the numbers of the specification's examples", () => {
    const first = uniform(f32(0), f32(1), 9, { output_type: 'f32', global_seed: 150, op_seed: 10 })
    const expected = [
      0.7011236, 0.30539632, 0.93931055, 0.9456035, 0.11694777, 0.50770056, 0.5197197, 0.22727466, 0.991374
    ]
    first.forEach((value, i) => expect(value).toBeCloseTo(expected[i], 6))
    const second = uniform(scalar(2, 'float64'), scalar(10, 'float64'), 4, {
      output_type: 'f64',
      global_seed: 80,
      op_seed: 100
    })
    ;[5.65927959, 4.23122376, 2.67008206, 2.36423758].forEach((value, i) => expect(second[i]).toBeCloseTo(value, 8))
    expect(
      uniform(scalar(50, 'int32'), scalar(100, 'int32'), 6, { output_type: 'i32', global_seed: 80, op_seed: 100 })
    ).toEqual([65, 70, 56, 59, 82, 92])
  })

  test('alignment pytorch draws from the Mersenne twister and ignores op_seed', () => {
    const attributes = { output_type: 'f32', global_seed: 5489, alignment: 'pytorch' }
    const values = uniform(f32(0), f32(1), 3, attributes)
    expect(values[0]).toBeCloseTo((3499211612 % 2 ** 24) / 2 ** 24, 7)
    expect(uniform(f32(0), f32(1), 3, { ...attributes, op_seed: 9 })).toEqual(values)
  })

  test('int64 takes one draw or two', () => {
    const run = (low: bigint, high: bigint, alignment: string): bigint =>
      draw(UNIFORM, [ints(1), new Tensor('int64', [low], []), new Tensor('int64', [high], [])], {
        output_type: 'i64',
        global_seed: 5489,
        alignment
      }).data[0] as bigint
    expect(run(0n, 1000n, 'pytorch')).toBe(3499211612n % 1000n)
    // The high half comes first; two of its bits are beyond the range.
    expect(run(0n, 2n ** 62n, 'pytorch') >> 32n).toBe(3499211612n % 2n ** 30n)
    expect(run(-(2n ** 62n), 2n ** 61n, 'tensorflow')).toBeLessThan(2n ** 61n)
  })

  test('every type stays within its bounds', () => {
    for (const type of ['f16', 'bf16', 'f32', 'f64', 'i32', 'i64']) {
      const dtype = (
        { f16: 'float16', bf16: 'bfloat16', f32: 'float32', f64: 'float64', i32: 'int32', i64: 'int64' } as const
      )[type]!
      // 0x4000 is 2 in both 16-bit types.
      const bound = (value: 0 | 2): Tensor =>
        new Tensor(
          dtype,
          type.endsWith('16') ? new Uint16Array([value * 0x2000]) : dtype === 'int64' ? [BigInt(value)] : [value],
          []
        )
      for (const alignment of ['tensorflow', 'pytorch']) {
        const out = draw(UNIFORM, [ints(500), bound(0), bound(2)], { output_type: type, global_seed: 1, alignment })
        const values = dtype === 'int64' ? [...(out.data as BigInt64Array)].map(Number) : numbersOf(out)
        expect(Math.min(...values), type).toBeGreaterThanOrEqual(0)
        expect(Math.max(...values), type).toBeLessThanOrEqual(2)
        expect(mean(values), type).toBeCloseTo(type.startsWith('i') ? 0.5 : 1, 0)
      }
    }
  })

  test('seeds of 0 leave the numbers to the session', () => {
    const attributes = { output_type: 'f32', global_seed: 0, op_seed: 0 }
    expect(uniform(f32(0), f32(1), 4, attributes, 1)).not.toEqual(uniform(f32(0), f32(1), 4, attributes, 2))
    const seeded = { ...attributes, op_seed: 1 }
    expect(uniform(f32(0), f32(1), 4, seeded, 1)).toEqual(uniform(f32(0), f32(1), 4, seeded, 2))
  })

  test('bounds of another type, of two elements or that leave nothing between them are refused', () => {
    const attributes = { output_type: 'f32', global_seed: 1 }
    expect(errorOf(() => uniform(scalar(0, 'int32'), f32(1), 4, attributes)).code).toBe('type-mismatch')
    expect(errorOf(() => uniform(new Tensor('float32', [0, 1]), f32(1), 4, attributes)).code).toBe('dims-mismatch')
    expect(errorOf(() => uniform(f32(1), f32(1), 4, attributes)).code).toBe('value-out-of-range')
    expect(errorOf(() => uniform(f32(0), f32(1), -4, attributes)).code).toBe('value-out-of-range')
  })
})
