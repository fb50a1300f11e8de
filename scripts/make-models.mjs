// Writes every file of models/: node scripts/make-models.mjs
import { mkdirSync } from 'node:fs'
import { writeDecoders } from './models/decoder.mjs'
import { Net } from './models/ir.mjs'
import { writeIrisModel } from './models/iris.mjs'
import { writeLanguageModel } from './models/language.mjs'
import { node, port, tensor, writeOnnx } from './models/onnx.mjs'

const folder = 'models'
mkdirSync(`${folder}/specification`, { recursive: true })

/** One gather layer as the OpenVINO specification shows it, made into a whole model. */
function specified(path, type, version, { data, indices, axis, batchDims, out, attribute, types = ['i32', 'i64'] }) {
  const net = new Net(path)
  const inputs = [net.parameter('data', types[0], data), net.parameter('indices', types[1], indices)]
  if (axis !== undefined) inputs.push(net.constant('axis', 'i64', [], [axis]))
  const attributes = { ...(batchDims !== undefined && { batch_dims: batchDims }), ...attribute }
  const gather = net.layer(type, version, 'gather', {
    inputs,
    output: { type: types[0], dims: out },
    ...(Object.keys(attributes).length > 0 && { data: attributes })
  })
  net.result('output', gather)
  net.save(`${folder}/specification/${path}`)
}

const gather1 = {
  data: [6, 12, 10, 24],
  indices: [15, 4, 20, 28],
  axis: 1,
  out: [6, 15, 4, 20, 28, 10, 24],
  types: ['u8', 'i32']
}
specified('gather-1', 'Gather', 'opset1', gather1)
specified('gather-7', 'Gather', 'opset7', {
  data: [2, 64, 128],
  indices: [2, 32, 21],
  axis: 1,
  batchDims: 1,
  out: [2, 32, 21, 128],
  types: ['f32', 'i64']
})
specified('gather-7-example-1', 'Gather', 'opset7', { data: [5], indices: [3], axis: 0, out: [3] })
specified('gather-7-example-2', 'Gather', 'opset7', {
  data: [2, 5],
  indices: [2, 3],
  axis: 1,
  batchDims: 1,
  out: [2, 3]
})
specified('gather-7-example-3', 'Gather', 'opset7', {
  data: [2, 2, 5],
  indices: [2, 2, 3],
  axis: 2,
  batchDims: 2,
  out: [2, 2, 3]
})
specified('gather-7-example-4', 'Gather', 'opset7', {
  data: [2, 1, 5, 4],
  indices: [2, 3],
  axis: 2,
  batchDims: 1,
  out: [2, 1, 3, 4]
})
specified('gather-8-example-7', 'Gather', 'opset8', { data: [5], indices: [3], axis: 0, out: [3] })
specified('gather-elements-6', 'GatherElements', 'opset6', {
  data: [3, 7, 5],
  indices: [3, 10, 5],
  attribute: { axis: 1 },
  out: [3, 10, 5],
  types: ['f32', 'i64']
})
specified('gather-elements-6-example-1', 'GatherElements', 'opset6', {
  data: [2, 2],
  indices: [2, 2],
  attribute: { axis: 0 },
  out: [2, 2]
})
specified('gather-elements-6-example-2', 'GatherElements', 'opset6', {
  data: [2, 2],
  indices: [2, 3],
  attribute: { axis: 1 },
  out: [2, 3]
})
specified('gather-elements-6-example-3', 'GatherElements', 'opset6', {
  data: [3, 3],
  indices: [2, 3],
  attribute: { axis: 0 },
  out: [2, 3]
})

/** One ONNX Gather: the examples of the document and the rows of its table. */
function onnxGather(path, data, indices, axis, out) {
  writeOnnx(`${folder}/specification/${path}.onnx`, {
    name: path,
    opset: 13,
    inputs: [port('data', 'float', data), port('indices', 'int64', indices)],
    outputs: [port('output', 'float', out)],
    nodes: [node('Gather', ['data', 'indices'], ['output'], axis === 0 ? {} : { axis })]
  })
}
onnxGather('onnx-gather-axis-0', [3, 2], [2, 2], 0, [2, 2, 2])
onnxGather('onnx-gather-axis-1', [3, 3], [1, 2], 1, [3, 1, 2])
onnxGather('onnx-gather-table-1', ['P', 'Q'], [], 0, ['Q'])
onnxGather('onnx-gather-table-2', ['P', 'Q', 'R'], [], 1, ['P', 'R'])
onnxGather('onnx-gather-table-3', ['P', 'Q'], ['R', 'S'], 0, ['R', 'S', 'Q'])
onnxGather('onnx-gather-table-4', ['P', 'Q'], ['R', 'S'], 1, ['P', 'R', 'S'])

const COLOURS = {
  black: [0, 0, 0],
  white: [255, 255, 255],
  red: [220, 40, 40],
  green: [40, 160, 70],
  blue: [50, 90, 220],
  yellow: [250, 210, 50]
}
const names = Object.keys(COLOURS)

/** A palette: ids of colours in, their names and their red, green and blue out. The same model in both dialects. */
function palette() {
  writeOnnx(`${folder}/palette.onnx`, {
    name: 'palette',
    opset: 17,
    inputs: [port('ids', 'int64', ['n'])],
    outputs: [port('name', 'string', ['n']), port('rgb', 'uint8', ['n', 3])],
    initializers: [
      tensor('names', 'string', [names.length], names),
      tensor(
        'colours',
        'uint8',
        [names.length, 3],
        names.flatMap(name => COLOURS[name])
      )
    ],
    nodes: [node('Gather', ['names', 'ids'], ['name']), node('Gather', ['colours', 'ids'], ['rgb'])]
  })
  const net = new Net('palette')
  const ids = net.parameter('ids', 'i64', ['?'])
  const axis = net.constant('axis', 'i64', [], [0])
  const gathered = (name, type, dims, values, out) =>
    net.layer('Gather', 'opset8', name, {
      inputs: [net.constant(`${name}s`, type, dims, values), ids, axis],
      output: { type, dims: out }
    })
  const name = gathered('name', 'string', [names.length], names, ['?'])
  const rgb = gathered(
    'rgb',
    'u8',
    [names.length, 3],
    names.flatMap(key => COLOURS[key]),
    ['?', 3]
  )
  net.result('name/result', name)
  net.result('rgb/result', rgb)
  net.save(`${folder}/palette`)
}
palette()

/**
 * How exporters flatten all but the batch: the dims of `x` go through Shape, Gather, Unsqueeze and Concat into Reshape.
 */
writeOnnx(`${folder}/shape-chain.onnx`, {
  name: 'shape-chain',
  opset: 17,
  inputs: [port('x', 'float', ['batch', 'seq', 8])],
  outputs: [port('y', 'float', ['batch', 'features'])],
  initializers: [
    tensor('zero', 'int64', [], [0]),
    tensor('axes', 'int64', [1], [0]),
    tensor('rest', 'int64', [1], [-1])
  ],
  nodes: [
    node('Shape', ['x'], ['dims']),
    node('Gather', ['dims', 'zero'], ['batch']),
    node('Unsqueeze', ['batch', 'axes'], ['batch_list']),
    node('Concat', ['batch_list', 'rest'], ['target'], { axis: 0 }),
    node('Reshape', ['x', 'target'], ['y'])
  ]
})

/** The first example again with one dim that is not true, for `nodewise check`. */
function wrongDim() {
  const net = new Net('wrong-dim')
  const inputs = [
    net.parameter('data', 'f32', [6, 12, 10]),
    net.parameter('indices', 'i64', [15, 4]),
    net.constant('axis', 'i64', [], [1])
  ]
  net.result(
    'output',
    net.layer('Gather', 'opset8', 'gather', { inputs, output: { type: 'f32', dims: [6, 15, 4, 12] } })
  )
  net.save(`${folder}/wrong-dim`)
}
wrongDim()

writeLanguageModel(`${folder}/language.onnx`)
writeIrisModel(`${folder}/iris.onnx`)
writeDecoders(`${folder}/decoder`)
