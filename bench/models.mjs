// Makes the files of a row: the model, and the table and indices as plain bytes.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { elements, indices, seedOf, strings } from './content.mjs'
import { writeIr } from './ir.mjs'
import { writeOnnx } from './onnx.mjs'
import { count, extent } from './rows.mjs'

/** The content of a base row's table: `{ bytes }`, or `{ strings }`. */
export function tableOf(row) {
  const seed = seedOf(row.name)
  return row.type === 'string'
    ? { strings: strings(count(row.data), seed) }
    : { bytes: elements(row.type, count(row.data), seed) }
}

const int64s = (...values) => Buffer.from(BigInt64Array.from(values, BigInt).buffer)
const int32s = (...values) => Buffer.from(Int32Array.of(...values).buffer)

/** Constants that GatherTree wants besides ids and parents: the lengths of all beams, and the token that ends one. */
const treeOperands = ({ data: [steps, batch] }) => [
  { name: 'lengths', type: 'int32', dims: [batch], bytes: int32s(...new Array(batch).fill(steps)) },
  { name: 'end', type: 'int32', dims: [], bytes: int32s(49_999) }
]

function writeIrRow(path, row, table, output) {
  const rest =
    row.op === 'GatherTree' ? treeOperands(row) : [{ name: 'axis', type: 'int64', dims: [], bytes: int64s(row.axis) }]
  writeIr(path, {
    type: row.op,
    version: row.op === 'GatherTree' ? 'opset1' : 'opset8',
    ...(row.op === 'Gather' && { data: { batch_dims: row.batchDims } }),
    operands: [
      { name: 'data', type: row.type, dims: row.data, ...(row.table === 'initializer' && table) },
      { name: 'indices', type: row.indexType, dims: row.indices },
      ...rest
    ],
    output
  })
}

function writeOnnxRow(path, row, table, output) {
  const data = { name: 'data', type: row.type, dims: row.data }
  const ids = { name: 'indices', type: row.indexType, dims: row.indices }
  const attributes = row.op === 'GatherND' ? { batch_dims: row.batchDims } : { axis: row.axis }
  writeOnnx(path, {
    inputs: row.table === 'input' ? [data, ids] : [ids],
    outputs: [output],
    initializers: row.table === 'input' ? [] : [{ ...data, ...table }],
    nodes: [{ op: row.op, inputs: ['data', 'indices'], outputs: ['output'], attributes }]
  })
}

/**
 * Writes the files of a variant into a folder.
 * @returns `job`, what a system needs to run it: `{ model, inputs: [{ name, type, dims, file }], output, … }`; and
 *   `remove`, which
 *   deletes the files
 */
export function makeRow(folder, row, table) {
  const output = { name: 'output', type: row.type, dims: row.out }
  const model = join(folder, row.dialect === 'ir' ? 'row.xml' : 'row.onnx')
  if (row.dialect === 'ir') writeIrRow(join(folder, 'row'), row, table, output)
  else writeOnnxRow(model, row, table, output)
  const files = { data: join(folder, 'data.raw'), indices: join(folder, 'indices.raw') }
  writeFileSync(files.data, table.strings ? JSON.stringify(table.strings) : table.bytes)
  writeFileSync(files.indices, indices(row.indexType, count(row.indices), extent(row), seedOf(row.name)))
  const data = { name: 'data', type: row.type, dims: row.data, file: files.data }
  const ids = { name: 'indices', type: row.indexType, dims: row.indices, file: files.indices }
  const { op, axis, batchDims } = row
  const inputs = row.table === 'input' ? [data, ids] : [ids]
  const remove = () => {
    for (const path of [model, join(folder, 'row.bin'), files.data, files.indices]) rmSync(path, { force: true })
  }
  return { job: { model, op, axis, batchDims, table: data, indices: ids, inputs, output }, remove }
}
