// What is measured, as data. A base row is one gather; its variants say where the table lies and of which type the
// indices are.

/**
 * One gather.
 * - `op`: operator; `dialect` 'ir' where ONNX has no such form (then only Nodewise and OpenVINO run it, as an IR)
 * - `data`, `indices`, `out`: dims; `type`: element type of the table; `axis`, `batchDims` as the operator has them
 * - `blocks`: whole blocks of 64 bytes and more are moved, so that the copy of as many bytes bounds it closely
 * @param {object} row
 */
const base = row => ({
  dialect: 'onnx',
  type: 'float32',
  axis: 0,
  batchDims: 0,
  blocks: false,
  indexTypes: ['int64', 'int32'],
  ...row
})

export const BASE_ROWS = [
  base({
    name: 'rows 30522x768 f32 by 512',
    op: 'Gather',
    data: [30522, 768],
    indices: [512],
    out: [512, 768],
    blocks: true
  }),
  base({
    name: 'rows 50257x768 f32 by 8x1024',
    op: 'Gather',
    data: [50257, 768],
    indices: [8, 1024],
    out: [8, 1024, 768],
    blocks: true
  }),
  base({
    name: 'rows 32000x4096 f16 by 2048',
    op: 'Gather',
    type: 'float16',
    data: [32000, 4096],
    indices: [2048],
    out: [2048, 4096],
    blocks: true
  }),
  base({
    name: 'rows 1000000x64 u8 by 65536',
    op: 'Gather',
    type: 'uint8',
    data: [1_000_000, 64],
    indices: [65_536],
    out: [65_536, 64],
    blocks: true
  }),
  base({
    name: 'axis 1 of 4096x1000 by 500',
    op: 'Gather',
    data: [4096, 1000],
    indices: [500],
    axis: 1,
    out: [4096, 500]
  }),
  base({
    name: 'last axis 64x12x128x128 by 64',
    op: 'Gather',
    data: [64, 12, 128, 128],
    indices: [64],
    axis: 3,
    out: [64, 12, 128, 64]
  }),
  base({ name: 'scalar index into 4', op: 'Gather', data: [4], indices: [], out: [] }),
  base({
    name: 'elements 1024x1024 axis 0',
    op: 'GatherElements',
    data: [1024, 1024],
    indices: [1024, 1024],
    out: [1024, 1024]
  }),
  base({
    name: 'elements 1024x1024 axis 1',
    op: 'GatherElements',
    data: [1024, 1024],
    indices: [1024, 1024],
    axis: 1,
    out: [1024, 1024]
  }),
  base({
    name: 'elements 8x128x4096 last by 64',
    op: 'GatherElements',
    data: [8, 128, 4096],
    indices: [8, 128, 64],
    axis: 2,
    out: [8, 128, 64]
  }),
  base({
    name: 'nd 256x256x64 by 4096x2',
    op: 'GatherND',
    data: [256, 256, 64],
    indices: [4096, 2],
    out: [4096, 64],
    blocks: true,
    indexTypes: ['int64']
  }),
  base({
    name: 'nd 256x256x64 by 256x16x1 batch 1',
    op: 'GatherND',
    data: [256, 256, 64],
    indices: [256, 16, 1],
    batchDims: 1,
    out: [256, 16, 64],
    blocks: true,
    indexTypes: ['int64']
  }),
  base({
    name: 'batch 1, 32x1000x64 by 32x100',
    op: 'Gather',
    dialect: 'ir',
    data: [32, 1000, 64],
    indices: [32, 100],
    axis: 1,
    batchDims: 1,
    out: [32, 100, 64],
    blocks: true
  }),
  base({
    name: 'tree 50x32x5',
    op: 'GatherTree',
    dialect: 'ir',
    type: 'int32',
    data: [50, 32, 5],
    indices: [50, 32, 5],
    out: [50, 32, 5],
    indexTypes: ['int32']
  }),
  base({ name: 'strings 10000 by 1000', op: 'Gather', type: 'string', data: [10_000], indices: [1000], out: [1000] })
]

/**
 * Every variant of a base row: the table a constant, with indices of each type it takes; then the table as an input.
 */
export function variantsOf(row) {
  const variant = (table, indexType) => ({
    ...row,
    table,
    indexType,
    name: `${row.name}, ${table === 'input' ? 'input, ' : ''}${indexType}`
  })
  return [...row.indexTypes.map(type => variant('initializer', type)), variant('input', row.indexTypes[0])]
}

/** Bytes that an element takes in memory. */
export const WIDTH = { float32: 4, float16: 2, uint8: 1, int32: 4, int64: 8, string: 8 }

/** The number of elements of dims. */
export const count = dims => dims.reduce((a, b) => a * b, 1)

/** Bytes that a row must move: the indices are read, the elements gathered are read and written. */
export const bytesMoved = row => 2 * count(row.out) * WIDTH[row.type] + count(row.indices) * WIDTH[row.indexType]

/** How many values an index may take. */
export const extent = row =>
  row.op === 'GatherTree' ? row.data[2] : row.data[row.op === 'GatherND' ? row.batchDims : row.axis]
