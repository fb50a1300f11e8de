import { describe, expect, test } from 'vitest'
import { ALL_DTYPES } from '../../../src/tensor/dtype.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { iota } from '../values.ts'

describe('DepthToSpace', () => {
  const data = iota([1, 8, 1, 2])

  test('takes the depth as blocks of channels, or channels of blocks', () => {
    const blocks = runTensor(['onnx', 'DepthToSpace', 13], [data], { attributes: { blocksize: 2, mode: 'DCR' } })
    expect(blocks.dims).toEqual([1, 2, 2, 4])
    expect([...blocks.data]).toEqual([0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15])
    const depth = runTensor(['onnx', 'DepthToSpace', 11], [data], { attributes: { blocksize: 2, mode: 'CRD' } })
    expect([...depth.data]).toEqual([0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15])
    expect([...runTensor(['onnx', 'DepthToSpace', 1], [data], { attributes: { blocksize: 2 } }).data]).toEqual([
      ...blocks.data
    ])
  })

  test('OpenVINO has any number of spatial dims', () => {
    const of = (mode: string) =>
      runTensor(['openvino', 'DepthToSpace', 1], [iota([1, 4, 2])], { attributes: { block_size: 2, mode } })
    expect(of('depth_first').dims).toEqual([1, 2, 4])
    expect([...of('depth_first').data]).toEqual([0, 2, 1, 3, 4, 6, 5, 7])
    expect([...of('blocks_first').data]).toEqual([0, 4, 1, 5, 2, 6, 3, 7])
  })

  test('refuses other ranks, depths that do not divide and blocks of 0', () => {
    const of = (dims: number[], blocksize: number) => () =>
      runTensor(['onnx', 'DepthToSpace', 13], [iota(dims)], { attributes: { blocksize } })
    expect(errorOf(of([1, 4, 2], 2)).code).toBe('rank-mismatch')
    expect(errorOf(of([1, 6, 2, 2], 2)).message).toBe('depth 6 is no multiple of 4')
    expect(errorOf(of([1, 4, 2, 2], 0)).code).toBe('value-out-of-range')
    expect(
      errorOf(() =>
        runTensor(['openvino', 'DepthToSpace', 1], [iota([4, 2])], {
          attributes: { block_size: 2, mode: 'depth_first' }
        })
      ).code
    ).toBe('rank-mismatch')
    expect(
      errorOf(() => runTensor(['onnx', 'DepthToSpace', 1], [data], { attributes: { blocksize: 2, mode: 'CRD' } })).code
    ).toBe('unknown-attribute-value')
  })
})

describe('SpaceToDepth', () => {
  test('is the reverse of DepthToSpace in every mode, rank and type', () => {
    for (const mode of ['blocks_first', 'depth_first']) {
      for (const dims of [
        [2, 3, 6],
        [2, 3, 4, 6],
        [1, 2, 2, 4, 2]
      ]) {
        const data = iota(dims)
        const deep = runTensor(['openvino', 'SpaceToDepth', 1], [data], { attributes: { block_size: 2, mode } })
        expect(deep.dims[1]).toBe(dims[1] * 2 ** (dims.length - 2))
        expect([
          ...runTensor(['openvino', 'DepthToSpace', 1], [deep], { attributes: { block_size: 2, mode } }).data
        ]).toEqual([...data.data])
      }
    }
    for (const type of ALL_DTYPES) {
      const data = iota([1, 1, 2, 2], type)
      expect(
        [
          ...runTensor(['openvino', 'SpaceToDepth', 1], [data], { attributes: { block_size: 2, mode: 'depth_first' } })
            .data
        ],
        type
      ).toEqual([...data.data])
    }
  })

  test('orders blocks before channels; version 28 may do the reverse', () => {
    const data = iota([1, 2, 2, 2])
    expect([...runTensor(['onnx', 'SpaceToDepth', 13], [data], { attributes: { blocksize: 2 } }).data]).toEqual([
      0, 4, 1, 5, 2, 6, 3, 7
    ])
    expect([...runTensor(['onnx', 'SpaceToDepth', 28], [data], { attributes: { blocksize: 2 } }).data]).toEqual([
      0, 4, 1, 5, 2, 6, 3, 7
    ])
    expect([
      ...runTensor(['onnx', 'SpaceToDepth', 28], [data], { attributes: { blocksize: 2, mode: 'CRD' } }).data
    ]).toEqual([...data.data])
    expect(
      errorOf(() => runTensor(['onnx', 'SpaceToDepth', 13], [iota([1, 1, 3, 2])], { attributes: { blocksize: 2 } }))
        .code
    ).toBe('shape-mismatch')
  })

  test('keeps symbols', () => {
    const of = (kind: Kind, dims?: readonly (number | string)[]): unknown =>
      dimsOf(inferOp(kind, [fact('float32', dims)], { attributes: { blocksize: 2 } })[0])
    expect(of(['onnx', 'DepthToSpace', 13], ['n', 8, 'h', 'w'])).toEqual(['n', 2, '2*h', '2*w'])
    expect(of(['onnx', 'SpaceToDepth', 13], ['n', 'c', 4, 'w'])).toEqual(['n', '4*c', 2, 'floor(w/2)'])
    expect(of(['onnx', 'SpaceToDepth', 13])).toBeUndefined()
  })
})
