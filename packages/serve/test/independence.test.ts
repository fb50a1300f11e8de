import { InferenceSession, parseModel } from 'nodewise'
import { describe, expect, test } from 'vitest'
import { whyNotBatched } from '../src/engine/independence.ts'

const why = (text: string): string | undefined => {
  const session = new InferenceSession(parseModel(`<ir_version: 10, opset_import: ["" : 21]>\n${text}`))
  return whyNotBatched(session.model, session.propagation())
}

describe('rows are proven independent of each other', () => {
  test.each([
    ['element by element', 'g (float[n, 3] x) => (float[n, 3] y) { y = Add(x, x) }'],
    ['with a vector for all rows', 'g (float[n, 3] x) => (float[n, 3] y) <float[3] b = {1, 2, 3}> { y = Mul(x, b) }'],
    ['of two inputs', 'g (float[n, 3] a, float[m, 3] b) => (float[n, 3] y) { y = Max(a, b) }'],
    ['by one matrix', 'g (float[n, 2] x) => (float[n, 2] y) <float[2, 2] w = {1, 2, 3, 4}> { y = MatMul(x, w) }'],
    ['by Gemm', 'g (float[n, 2] x) => (float[n, 2] y) <float[2, 2] w = {1, 2, 3, 4}> { y = Gemm<transB = 1>(x, w) }'],
    [
      'by attention within a row',
      'g (float[n, s, 4] x) => (float[n, s, 4] y) { t = Transpose<perm = [0, 2, 1]>(x) q = MatMul(x, t) ' +
        'w = Softmax<axis = -1>(q) y = MatMul(w, x) }'
    ],
    [
      'by windows',
      'g (float[n, 1, 4, 4] x) => (float[n, 1, 2, 2] y) <float[1, 1, 3, 3] w = {1, 1, 1, 1, 1, 1, 1, 1, 1}> ' +
        '{ y = Conv(x, w) }'
    ],
    ['by a look into a table', 'g (int64[n] i) => (float[n, 2] y) <float[2, 2] t = {1, 2, 3, 4}> { y = Gather(t, i) }'],
    [
      'reduced along other axes',
      'g (float[n, 3] x) => (float[n] y) <int64[1] a = {1}> { y = ReduceSum<keepdims = 0>(x, a) }'
    ],
    [
      'put elsewhere within each row',
      'g (float[n, 3] x, int64[n, 2] i, float[n, 2] u) => (float[n, 3] y) { y = ScatterElements<axis = 1>(x, i, u) }'
    ],
    ['by maxima', 'g (float[n, 1, 4] x) => (float[n, 1, 2] y) { y = MaxPool<kernel_shape = [2], strides = [2]>(x) }'],
    ['by the responses of channels', 'g (float[n, 3, 2, 2] x) => (float[n, 3, 2, 2] y) { y = LRN<size = 3>(x) }'],
    [
      'reshaped by a shape that follows from theirs',
      'g (float[n, 2, 3] x) => (float[n, k] y) <int64[1] z = {0}, int64[1] m = {-1}> ' +
        '{ s = Shape(x) b = Gather(s, z) t = Concat<axis = 0>(b, m) y = Reshape(x, t) }'
    ],
    [
      'with positions along another axis',
      'g (float[n, s] x) => (float[n, s] y) <int64 o = {1}, int64 z = {0}, int64 i = {1}> ' +
        '{ s = Shape(x) l = Gather(s, i) r = Range(z, l, o) f = Cast<to = 1>(r) y = Add(x, f) }'
    ]
  ])('%s', (_, text) => expect(why(text)).toBeUndefined())
})

describe('nothing is proven', () => {
  test.each([
    ['where the first dim is fixed', 'g (float[1, 3] x) => (float[1, 3] y) { y = Add(x, x) }', 'fixed first dim'],
    ['of a scalar', 'g (float x) => (float y) { y = Add(x, x) }', 'is a scalar'],
    ['where the batch is two dims', 'g (float[n, n] x) => (float[n, n] y) { y = Add(x, x) }', 'another dim'],
    ['of a softmax over rows', 'g (float[n, 3] x) => (float[n, 3] y) { y = Softmax<axis = 0>(x) }', 'may mix rows'],
    [
      'of a sum over rows',
      'g (float[n, 3] x) => (float[m] y) <int64[1] a = {0}> { y = ReduceSum<keepdims = 0>(x, a) }',
      'mix'
    ],
    ['of a sum along rows', 'g (float[n, 3] x) => (float[n, 3] y) <int64 a = {0}> { y = CumSum(x, a) }', 'mix'],
    [
      'of a product of rows with rows',
      'g (float[n, 3] x) => (float[n, m] y) { t = Transpose(x) y = MatMul(x, t) }',
      'mix'
    ],
    [
      'where rows are reversed',
      'g (float[n] x) => (float[n] y) <int64[1] s = {-1}, int64[1] e = {-9999}, int64[1] a = {0}> ' +
        '{ y = Slice(x, s, e, a, s) }',
      'mix'
    ],
    [
      'where places of maxima count all rows',
      'g (float[n, 1, 4] x) => (float[n, 1, 2] y, int64[n, 1, 2] i) ' +
        '{ y, i = MaxPool<kernel_shape = [2], strides = [2]>(x) }',
      'mix'
    ],
    [
      'where elements are put into other rows',
      'g (float[n, 3] x, int64[n, 3] i) => (float[n, 3] y) { y = ScatterElements<axis = 0>(x, i, x) }',
      'mix'
    ],
    [
      'where elements are put into the first row',
      'g (float[n, 3] x) => (float[n, 3] y) <int64[1, 1] i = {1}, float[1, 1] u = {5}> ' +
        '{ y = ScatterElements<axis = 1>(x, i, u) }',
      'mix'
    ],
    [
      'where a row is named by its number',
      'g (float[n, 3] x) => (float[n, 3] y) <int64[1, 2] i = {0, 1}, float[1] u = {5}> { y = ScatterND(x, i, u) }',
      'mix'
    ],
    ['where the batch is transposed', 'g (float[n, 3] x) => (float[3, n] y) { y = Transpose(x) }', 'mix'],
    [
      'where the number of rows is used',
      'g (float[n, 3] x) => (float[n, 3] y) <int64[1] z = {0}> ' +
        '{ s = Shape(x) b = Gather(s, z) f = Cast<to = 1>(b) y = Div(x, f) }',
      'mix'
    ],
    [
      'where scales follow from all rows',
      'g (float[n, 3] x) => (uint8[n, 3] y) { y, s, z = DynamicQuantizeLinear(x) }',
      'mix'
    ],
    ['where an output has no rows', 'g (float[n, 3] x) => (int64[2] y) { y = Shape(x) }', 'no row'],
    ['of random numbers', 'g (float[n, 3] x) => (float[n, 3] y) { r = RandomUniformLike(x) y = Add(x, r) }', 'mix'],
    ['where a row looks into rows', 'g (float[n, 3] x, int64[m] i) => (float[m, 3] y) { y = Gather(x, i) }', 'mix'],
    ['where a vector is laid along rows', 'g (float[n] a, float[n, 3] b) => (float[n, 3] y) { y = Add(a, b) }', 'mix']
  ])('%s', (_, text, reason) => expect(why(text)).toContain(reason))
})
