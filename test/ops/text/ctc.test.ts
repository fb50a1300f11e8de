import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp, runTensor } from '../harness.ts'
import { scalar } from '../values.ts'

const f32 = (dims: number[], data: readonly number[]): Tensor => new Tensor('float32', Float32Array.from(data), dims)
const i32 = (dims: number[], ...data: number[]): Tensor => new Tensor('int32', data, dims)

/** All paths of `steps` classes. */
function* paths(steps: number, classes: number): Generator<number[]> {
  for (let code = 0; code < classes ** steps; code++)
    yield Array.from({ length: steps }, (_, i) => Math.floor(code / classes ** i) % classes)
}

const merged = (labels: readonly number[]): number[] => labels.filter((label, i) => i === 0 || label !== labels[i - 1])

/**
 * Negative logarithm of the probability of all paths that decode to the target, path by path as the specification says.
 */
function byPaths(
  logits: readonly number[],
  steps: number,
  classes: number,
  target: readonly number[],
  blank: number,
  merges: boolean
): number {
  const probabilities = Array.from({ length: steps }, (_, t) => {
    const row = logits.slice(t * classes, (t + 1) * classes).map(Math.exp)
    const sum = row.reduce((a, b) => a + b)
    return row.map(value => value / sum)
  })
  let total = 0
  for (const path of paths(steps, classes)) {
    const decoded = (merges ? merged(path) : path).filter(label => label !== blank)
    if (decoded.join() === target.join())
      total += path.reduce((product, label, t) => product * probabilities[t][label], 1)
  }
  return -Math.log(total)
}

describe('CTCLoss', () => {
  const LOSS: Kind = ['openvino', 'CTCLoss', 4]
  const steps = 5
  const classes = 3
  const logits = Array.from({ length: 2 * steps * classes }, (_, i) => Math.sin(i * i + 2))
  const loss = (
    labels: number[],
    count: number,
    blank: number,
    attributes: Record<string, boolean>,
    length = steps
  ): number =>
    runTensor(
      LOSS,
      [
        f32([2, steps, classes], logits),
        i32([2], length, 1),
        i32([2, steps], ...labels, ...labels),
        i32([2], count, 0),
        scalar(blank, 'int32')
      ],
      { attributes }
    ).data[0] as number

  test('sums the probabilities of all paths, with and without merging, for labels that repeat too', () => {
    for (const merges of [true, false]) {
      for (const labels of [
        [0, 1, 1, 0, 1],
        [1, 1, 1, 1, 1],
        [0, 0, 1, 0, 0]
      ]) {
        for (let count = 0; count <= 4; count++) {
          const expected = byPaths(logits, steps, classes, labels.slice(0, count), 2, merges)
          const actual = loss(labels, count, 2, { ctc_merge_repeated: merges })
          if (expected === Infinity) expect(actual).toBe(Infinity)
          else expect(actual).toBeCloseTo(expected, 4)
        }
      }
    }
  })

  test('takes the blank and the length that are given', () => {
    expect(loss([1, 2, 1, 1, 1], 2, 0, { ctc_merge_repeated: true }, 3)).toBeCloseTo(
      byPaths(logits, 3, classes, [1, 2], 0, true),
      4
    )
  })

  test('first drops repetitions of labels, or all but the first of each kind, if asked', () => {
    const labels = [1, 1, 0, 1, 1]
    expect(loss(labels, 4, 2, { ctc_merge_repeated: true, preprocess_collapse_repeated: true })).toBeCloseTo(
      byPaths(logits, steps, classes, [1, 0, 1], 2, true),
      4
    )
    expect(loss(labels, 4, 2, { ctc_merge_repeated: true, unique: true })).toBeCloseTo(
      byPaths(logits, steps, classes, [1, 0], 2, true),
      4
    )
  })

  test('stays finite where probabilities are tiny', () => {
    const long = 400
    const x = f32(
      [1, long, 2],
      Array.from({ length: long * 2 }, (_, i) => (i % 2 === 0 ? 0 : 30))
    )
    const value = runTensor(
      LOSS,
      [x, i32([1], long), i32([1, long], ...new Array<number>(long).fill(0)), i32([1], 100)],
      { attributes: { ctc_merge_repeated: false } }
    ).data[0] as number
    expect(value).toBeGreaterThan(2000)
    expect(Number.isFinite(value)).toBe(true)
  })

  test('lengths, labels and a blank that do not fit are refused', () => {
    expect(errorOf(() => loss([0, 1, 1, 0, 1], 2, 2, {}, 6)).code).toBe('value-out-of-range')
    expect(errorOf(() => loss([0, 1, 1, 0, 1], 4, 2, {}, 3)).code).toBe('value-out-of-range')
    expect(errorOf(() => loss([0, 2, 1, 0, 1], 2, 2, {})).code).toBe('value-out-of-range')
    expect(errorOf(() => loss([0, 1, 1, 0, 1], 2, 3, {})).code).toBe('value-out-of-range')
    expect(
      errorOf(() =>
        runTensor(LOSS, [
          f32([2, steps, classes], logits),
          i32([3], 1, 1, 1),
          i32([2, steps], ...new Array<number>(10).fill(0)),
          i32([2], 1, 1)
        ])
      ).code
    ).toBe('dims-mismatch')
  })

  test('the result has the batch, which any operand may tell', () => {
    expect(
      dimsOf(inferOp(LOSS, [fact('float32'), fact('int32', ['?']), fact('int32', ['n', 7]), fact('int32', ['?'])])[0])
    ).toEqual(['n'])
  })
})

/** Scores whose best classes are these. */
const scoresOf = (best: readonly number[], classes: number): number[] =>
  best.flatMap(label => Array.from({ length: classes }, (_, i) => (i === label ? 1 : 0.1)))

describe('CTCGreedyDecoder', () => {
  const DECODE: Kind = ['openvino', 'CTCGreedyDecoder', 1]
  // Steps first: sequence 0 is 0 0 b 0 1, sequence 1 is 1 b b 1 1 of which three steps count.
  const scores = f32([5, 2, 3], scoresOf([0, 1, 0, 2, 2, 2, 0, 1, 1, 1], 3))
  const mask = f32([5, 2], [1, 1, 1, 1, 1, 1, 1, 0, 1, 1])

  test('drops blanks and, if asked, repetitions; a sequence ends at the first 0 of its mask', () => {
    const out = runTensor(DECODE, [scores, mask])
    expect(out.dims).toEqual([2, 5, 1, 1])
    expect([...(out.data as Float32Array)]).toEqual([0, 0, 1, -1, -1, 1, -1, -1, -1, -1])
    expect([
      ...(runTensor(DECODE, [scores, mask], { attributes: { ctc_merge_repeated: false } }).data as Float32Array)
    ]).toEqual([0, 0, 0, 1, -1, 1, -1, -1, -1, -1])
  })

  test('scores and mask must agree, and there must be a class', () => {
    expect(errorOf(() => runTensor(DECODE, [scores, f32([2, 5], new Array<number>(10).fill(1))])).code).toBe(
      'dims-mismatch'
    )
    expect(errorOf(() => runTensor(DECODE, [f32([1, 1, 0], []), f32([1, 1], [1])])).code).toBe('dims-mismatch')
    expect(dimsOf(inferOp(DECODE, [fact('float32', ['t', '?', 9]), fact('float32', ['?', 'n'])])[0])).toEqual([
      'n',
      't',
      1,
      1
    ])
  })
})

describe('CTCGreedyDecoderSeqLen', () => {
  const DECODE: Kind = ['openvino', 'CTCGreedyDecoderSeqLen', 6]
  const scores = f32([2, 5, 3], scoresOf([0, 0, 2, 0, 1, 1, 2, 2, 1, 1], 3))
  const decode = (inputs: Tensor[], attributes: Record<string, string | boolean> = {}): Tensor[] =>
    runOp(DECODE, [scores, ...inputs], { attributes, outputs: 2 }) as Tensor[]

  test('gives the classes and how many there are', () => {
    const [classes, counts] = decode([i32([2], 5, 3)])
    expect([...(classes.data as Int32Array)]).toEqual([0, 0, 1, -1, -1, 1, -1, -1, -1, -1])
    expect([...(counts.data as Int32Array)]).toEqual([3, 1])
  })

  test('another blank and output types', () => {
    const [classes, counts] = decode([i32([2], 5, 3), i32([], 0)], {
      merge_repeated: false,
      classes_index_type: 'i64',
      sequence_length_type: 'i64'
    })
    expect([...(classes.data as BigInt64Array)].map(Number)).toEqual([2, 1, -1, -1, -1, 1, 2, 2, -1, -1])
    expect([counts.type, [...(counts.data as BigInt64Array)].map(Number)]).toEqual(['int64', [2, 3]])
  })

  test('lengths and blanks out of range are refused', () => {
    expect(errorOf(() => decode([i32([2], 6, 3)])).code).toBe('value-out-of-range')
    expect(errorOf(() => decode([i32([2], 5, 3), i32([], 3)])).code).toBe('value-out-of-range')
    expect(errorOf(() => decode([i32([3], 5, 3, 1)])).code).toBe('dims-mismatch')
  })
})
