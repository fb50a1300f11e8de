import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { picks } from '../random.ts'
import { iota, valuesOf } from '../values.ts'

const KIND: Kind = ['onnx', 'IsAllFinite', 1, 'com.microsoft']
const INFINITY = { isinf_only: 1 }
const NAN = { isnan_only: 1 }
const list = (...values: number[]): Tensor => new Tensor('float32', values)

function isFinite(inputs: readonly Tensor[], attributes: Readonly<Record<string, number>> = {}): boolean {
  const { type, dims, data } = runTensor(KIND, inputs, { attributes })
  expect([type, dims]).toEqual(['bool', []])
  return Boolean(data[0])
}

// ONNX Runtime has no kernel for CPUs: held against what its kernel for GPUs computes.
describe('IsAllFinite', () => {
  test('looks for infinities and NaN, or for one of them', () => {
    const edges = [list(3e38, -3e38, 1e-45, -0), list(Infinity), list(-Infinity), list(NaN), list(NaN, Infinity)]
    const answers = (attributes: Readonly<Record<string, number>>): boolean[] =>
      edges.map(edge => isFinite([edge], attributes))
    expect(answers({})).toEqual([true, false, false, false, false])
    expect(answers(INFINITY)).toEqual([true, false, false, true, false])
    expect(answers(NAN)).toEqual([true, true, true, false, false])
  })

  test('finds one element in any place of any tensor of any type', () => {
    for (const type of ['float16', 'bfloat16', 'float32', 'float64'] as const) {
      for (let seed = 1; seed <= 10; seed++) {
        const inputs = Array.from({ length: 1 + picks(seed, 4) }, (_, i) => iota([1 + picks(seed + i, 9), 2]))
        const typed = (): Tensor[] => inputs.map(tensor => convert(tensor, type))
        expect(isFinite(typed()), `${type}, seed ${seed}`).toBe(true)
        const [which, what] = [inputs[picks(seed + 7, inputs.length)], [NaN, Infinity, -Infinity][seed % 3]]
        which.data[picks(seed + 8, which.data.length)] = what
        expect(isFinite(typed()), `${type}, seed ${seed}`).toBe(false)
        expect(isFinite(typed(), INFINITY), `${type}, seed ${seed}`).toBe(Number.isNaN(what))
        expect(isFinite(typed(), NAN), `${type}, seed ${seed}`).toBe(!Number.isNaN(what))
      }
    }
  })

  test('finds one element behind many', () => {
    const many = new Tensor('float32', new Float32Array(120_000), [300, 400])
    expect(isFinite([many])).toBe(true)
    many.data[119_999] = NaN
    expect(isFinite([many])).toBe(false)
  })

  test('scalars and empty tensors', () => {
    expect(isFinite([new Tensor('float32', [NaN], [])])).toBe(false)
    expect(isFinite([iota([0, 3]), iota([])])).toBe(true)
  })

  test('its result is one element, whatever is known of the tensors', () => {
    const facts = inferOp(KIND, [fact('float16', ['n', '?']), fact('float16')])
    expect(facts.map(each => dimsOf(each))).toEqual([[]])
    expect(facts[0]).toMatchObject({ type: 'bool' })
    expect(valuesOf(inferOp(KIND, [list(1, 2)])[0])).toEqual([1])
  })

  test('what it refuses', () => {
    const code = (inputs: readonly Tensor[], attributes = {}): string =>
      errorOf(() => runTensor(KIND, inputs, { attributes })).code
    expect(code([list(1)], { ...INFINITY, ...NAN })).toBe('unknown-attribute-value')
    expect(code([])).toBe('wrong-input-count')
    expect(code([iota([2], 'int32')])).toBe('type-not-allowed')
    expect(code([iota([2]), iota([2], 'float64')])).toBe('type-mismatch')
  })
})
