// The decoder of decoder.mjs as an OpenVINO IR with the keys and values in variables, as OpenVINO keeps them: the
// session remembers the text.
import { Net } from './ir.mjs'

const EPSILON = 1e-5
const BROADCAST = { auto_broadcast: 'numpy' }

/** A net with the layers that a decoder is made of; layers that nobody asks for are numbered. */
class DecoderNet extends Net {
  constructor(name, { width, heads }) {
    super(name)
    this.heads = heads
    this.size = width / heads
    this.wide = [1, '?', width]
    this.cache = [1, heads, '?', this.size]
  }

  add(type, version, inputs, dims, data, { name = `${type}_${this.layers.length}`, element = 'f32' } = {}) {
    return this.layer(type, version, name, { inputs, output: { type: element, dims }, ...(data && { data }) })
  }

  numbers({ dims, values }, name = `Constant_${this.layers.length}`) {
    return this.constant(name, 'f32', dims, values)
  }

  integers(values, dims = [values.length]) {
    return this.constant(`Constant_${this.layers.length}`, 'i64', dims, values)
  }

  binary(type, a, b, dims = this.wide) {
    return this.add(type, 'opset1', [a, b], dims, BROADCAST)
  }

  multiply(x, matrix, name) {
    const data = { transpose_a: false, transpose_b: false }
    return this.add('MatMul', 'opset1', [x, this.numbers(matrix)], [1, '?', matrix.dims[1]], data, { name })
  }

  /** Root mean square normalization. */
  norm(x) {
    const narrow = [1, '?', 1]
    const squares = this.binary('Multiply', x, x)
    const mean = this.add('ReduceMean', 'opset1', [squares, this.integers([-1])], narrow, { keep_dims: true })
    const epsilon = this.numbers({ dims: [1, 1, 1], values: [EPSILON] })
    const root = this.add('Sqrt', 'opset1', [this.binary('Add', mean, epsilon, narrow)], narrow)
    return this.add('Divide', 'opset1', [x, root], this.wide, { ...BROADCAST, m_pythondiv: true })
  }

  gather(table, ids, name) {
    return this.add('Gather', 'opset8', [this.numbers(table, name), ids, this.integers([0], [])], this.wide, {
      batch_dims: 0
    })
  }

  reshape(x, sizes, dims) {
    return this.add('Reshape', 'opset1', [x, this.integers(sizes)], dims, { special_zero: true })
  }

  /** Exchanges heads and positions. */
  exchange(x, dims) {
    return this.add('Transpose', 'opset1', [x, this.integers([0, 2, 1, 3])], dims)
  }

  split(x) {
    const { heads, size } = this
    return this.exchange(this.reshape(x, [0, 0, heads, size], [1, '?', heads, size]), this.cache)
  }

  join(x) {
    const { heads, size } = this
    return this.reshape(this.exchange(x, [1, '?', heads, size]), [0, 0, heads * size], this.wide)
  }

  /** Rows behind those that a variable holds, which then holds both. */
  remembered(fresh, id) {
    const { cache, heads, size } = this
    const data = { variable_id: id, variable_type: 'f32', variable_shape: cache.join(',') }
    const nothing = this.numbers({ dims: [1, heads, 0, size], values: [] })
    const past = this.add('ReadValue', 'opset6', [nothing], cache, data)
    const all = this.add('Concat', 'opset1', [past, fresh], cache, { axis: 2 })
    this.add('Assign', 'opset6', [all], cache, data)
    return all
  }

  /** A query sees the keys up to its own position. */
  causalMask(keys, position) {
    const element = { element: 'i64' }
    const [first, one, axis] = [[0], [1], [2]].map(value => this.integers(value, []))
    const dims = this.add('ShapeOf', 'opset3', [keys], [4], { output_type: 'i64' }, element)
    const total = this.add('Gather', 'opset8', [dims, axis, first], [], { batch_dims: 0 }, element)
    const all = this.add('Range', 'opset4', [first, total, one], ['?'], { output_type: 'i64' }, element)
    const shape = this.integers([-1, 1])
    const own = this.add('Reshape', 'opset1', [position, shape], ['?', 1], { special_zero: false }, element)
    return this.add('LessEqual', 'opset1', [all, own], ['?', '?'], BROADCAST, { element: 'boolean' })
  }
}

/**
 * Writes `path.xml` and `path.bin`.
 * @param made the weights
 * @param sizes `{ width, heads, inner }`
 */
export function writeDecoderIr(path, { embedding, positions, layers, head }, sizes) {
  const net = new DecoderNet('decoder', sizes)
  const ids = net.parameter('input_ids', 'i64', [1, '?'])
  const position = net.parameter('position_ids', 'i64', [1, '?'])
  const product = [1, '?', sizes.inner]
  let x = net.binary('Add', net.gather(embedding, ids, 'embedding'), net.gather(positions, position, 'positions'))
  let mask
  layers.forEach((layer, i) => {
    const input = net.norm(x)
    const [q, k, v] = ['q', 'k', 'v'].map(part => net.split(net.multiply(input, layer[part])))
    const [keys, values] = [net.remembered(k, `present.${i}.key`), net.remembered(v, `present.${i}.value`)]
    mask ??= net.causalMask(keys, position)
    const operands = [q, keys, values, mask]
    const attended = net.add('ScaledDotProductAttention', 'opset13', operands, net.cache, { causal: false })
    x = net.binary('Add', x, net.multiply(net.join(attended), layer.o))
    const inner = net.norm(x)
    const silu = net.add('Swish', 'opset4', [net.multiply(inner, layer.gate)], product)
    x = net.binary(
      'Add',
      x,
      net.multiply(net.binary('Multiply', silu, net.multiply(inner, layer.up), product), layer.down)
    )
  })
  net.result('logits/result', net.multiply(net.norm(x), head, 'logits'))
  net.save(path)
}
