// Made-up models of any size, the same in both formats: a chain of blocks of ten nodes, the way exporters write a layer
// whose batch is open.
import { Net } from '../scripts/models/ir.mjs'
import { node, port, tensor, writeOnnx } from '../scripts/models/onnx.mjs'

const NODES_A_BLOCK = 10
const WIDTH = 64
const HEADS = [8, 8]
const weights = () => Array.from({ length: WIDTH * WIDTH }, (_, i) => (i % 7) / 100)

/** Writes `path.onnx` with this many nodes. */
export function writeOnnxBlocks(path, nodes) {
  const made = []
  const values = []
  const add = (type, inputs, name, element, dims, attributes) => {
    made.push(node(type, inputs, [name], attributes))
    values.push(port(name, element, dims))
    return name
  }
  let x = 'x'
  for (let i = 0; i < nodes / NODES_A_BLOCK; i++) {
    const at = name => `/block.${i}/${name}`
    const product = add('MatMul', [x, 'weights'], at('MatMul'), 'float', ['n', WIDTH])
    const sum = add('Add', [product, 'bias'], at('Add'), 'float', ['n', WIDTH])
    const active = add('Relu', [sum], at('Relu'), 'float', ['n', WIDTH])
    const shape = add('Shape', [active], at('Shape'), 'int64', [2])
    const batch = add('Gather', [shape, 'first'], at('Gather'), 'int64', [1])
    const dims = add('Concat', [batch, 'heads'], at('Concat'), 'int64', [3], { axis: 0 })
    const split = add('Reshape', [active, dims], at('Reshape'), 'float', ['n', ...HEADS])
    const turned = add('Transpose', [split], at('Transpose'), 'float', ['n', ...HEADS], { perm: [0, 2, 1] })
    const joined = add('Reshape', [turned, 'flat'], at('Reshape_1'), 'float', ['n', WIDTH])
    x = add('Add', [joined, x], at('Add_1'), 'float', ['n', WIDTH])
  }
  writeOnnx(`${path}.onnx`, {
    name: 'blocks',
    opset: 17,
    inputs: [port('x', 'float', ['n', WIDTH])],
    outputs: [port(x, 'float', ['n', WIDTH])],
    initializers: [
      tensor('weights', 'float', [WIDTH, WIDTH], weights()),
      tensor('bias', 'float', [WIDTH], weights().slice(0, WIDTH)),
      tensor('first', 'int64', [1], [0]),
      tensor('heads', 'int64', [2], HEADS),
      tensor('flat', 'int64', [2], [-1, WIDTH])
    ],
    nodes: made,
    values: values.slice(0, -1)
  })
}

/** Writes `path.xml` and `path.bin` with this many layers besides the input, the output and six constants. */
export function writeIrBlocks(path, layers) {
  const net = new Net('blocks')
  const flat = { type: 'f32', dims: [-1, WIDTH] }
  const heads = { type: 'f32', dims: [-1, ...HEADS] }
  let x = net.parameter('x', 'f32', [-1, WIDTH])
  const constants = {
    weights: net.constant('weights', 'f32', [WIDTH, WIDTH], weights()),
    bias: net.constant('bias', 'f32', [1, WIDTH], weights().slice(0, WIDTH)),
    first: net.constant('first', 'i64', [1], [0]),
    axis: net.constant('axis', 'i64', [], [0]),
    heads: net.constant('heads', 'i64', [2], HEADS),
    flat: net.constant('flat', 'i64', [2], [-1, WIDTH]),
    order: net.constant('order', 'i64', [3], [0, 2, 1])
  }
  for (let i = 0; i < layers / NODES_A_BLOCK; i++) {
    const add = (type, version, name, inputs, output, data) =>
      net.layer(type, version, `/block.${i}/${name}`, { inputs, output, ...(data && { data }) })
    const product = add('MatMul', 'opset1', 'MatMul', [x, constants.weights], flat, {
      transpose_a: false,
      transpose_b: false
    })
    const sum = add('Add', 'opset1', 'Add', [product, constants.bias], flat, { auto_broadcast: 'numpy' })
    const active = add('ReLU', 'opset1', 'Relu', [sum], flat)
    const shape = add('ShapeOf', 'opset3', 'Shape', [active], { type: 'i64', dims: [2] }, { output_type: 'i64' })
    const batch = add(
      'Gather',
      'opset8',
      'Gather',
      [shape, constants.first, constants.axis],
      { type: 'i64', dims: [1] },
      { batch_dims: 0 }
    )
    const dims = add('Concat', 'opset1', 'Concat', [batch, constants.heads], { type: 'i64', dims: [3] }, { axis: 0 })
    const split = add('Reshape', 'opset1', 'Reshape', [active, dims], heads, { special_zero: true })
    const turned = add('Transpose', 'opset1', 'Transpose', [split, constants.order], heads)
    const joined = add('Reshape', 'opset1', 'Reshape_1', [turned, constants.flat], flat, { special_zero: true })
    x = add('Add', 'opset1', 'Add_1', [joined, x], flat, { auto_broadcast: 'numpy' })
  }
  net.result('y', x)
  net.save(path)
}
