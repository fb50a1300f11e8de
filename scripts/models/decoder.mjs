// Writes models/decoder.onnx, and the same as an IR with variables: a decoder of words with two layers, as exporters
// write large ones. Its weights are random but for the last product, which knows for each word of a short text the
// words that follow it; so what it says are bits of that text.
import { writeFileSync } from 'node:fs'
import { writeDecoderIr } from './decoder-ir.mjs'
import { node, port, tensor, writeOnnx } from './onnx.mjs'

const TEXT = `a graph is a list of nodes . a node reads some values and makes others . a value is a tensor or a list
of tensors . a tensor has a type and dims . the dims of a value follow from the dims of the values before it . a gather
takes rows of a table . the table lies in the file . the file is read by the row . a row that nobody reads stays where
it is . nobody reads a value after its last node . then its memory is free . the memory of a run is counted . a run ends
where the last node has made its value .`

const [WIDTH, HEADS, INNER, LAYERS, POSITIONS] = [32, 2, 48, 2, 128]
const SIZE = WIDTH / HEADS
const MICROSOFT = 'com.microsoft'

const words = TEXT.split(/\s+/)
const vocabulary = [...new Set(words)]

/** Normally distributed numbers, the same in every run: xorshift32, and sums of twelve. */
function randomSource(seed) {
  let state = seed
  const next = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
  return () => Array.from({ length: 12 }, next).reduce((a, b) => a + b) - 6
}

function weights() {
  const random = randomSource(7)
  const matrix = (rows, columns, scale) => ({
    dims: [rows, columns],
    values: Array.from({ length: rows * columns }, () => Math.fround(random() * scale))
  })
  const embedding = matrix(vocabulary.length, WIDTH, 1)
  const layer = () => ({
    q: matrix(WIDTH, WIDTH, 0.1),
    k: matrix(WIDTH, WIDTH, 0.1),
    v: matrix(WIDTH, WIDTH, 0.05),
    o: matrix(WIDTH, WIDTH, 0.05),
    gate: matrix(WIDTH, INNER, 0.05),
    up: matrix(WIDTH, INNER, 0.05),
    down: matrix(INNER, WIDTH, 0.05)
  })
  const [count, { values }] = [vocabulary.length, embedding]
  const head = { dims: [WIDTH, count], values: new Array(WIDTH * count).fill(0) }
  for (let i = 1; i < words.length; i++) {
    const [from, to] = [vocabulary.indexOf(words[i - 1]), vocabulary.indexOf(words[i])]
    for (let j = 0; j < WIDTH; j++) head.values[j * count + to] += values[from * WIDTH + j] / 8
  }
  return {
    embedding,
    positions: matrix(POSITIONS, WIDTH, 0.05),
    layers: Array.from({ length: LAYERS }, layer),
    head: { dims: head.dims, values: head.values.map(Math.fround) }
  }
}

const pastOf = layer => ['key', 'value'].map(name => `past_key_values.${layer}.${name}`)
const presentOf = layer => ['key', 'value'].map(name => `present.${layer}.${name}`)

/** The parts of a graph as they are added. */
class Parts {
  initializers = []
  nodes = []

  constant(name, { dims, values }, type = 'float') {
    this.initializers.push(tensor(name, type, dims, values))
    return name
  }

  add(op, inputs, output, attributes, domain) {
    this.nodes.push(node(op, inputs, [output].flat(), attributes, domain))
    return output
  }

  norm(x, name) {
    return this.add('RMSNormalization', [x, 'ones'], name)
  }

  multiply(x, name, matrix) {
    return this.add('MatMul', [x, this.constant(`${name}.weight`, matrix)], name)
  }
}

/** The mask tells how many rows of a cache are valid; there may be more. */
function addLengths(parts) {
  parts.constant('last', { dims: [1], values: [-1] }, 'int64')
  parts.constant('one', { dims: [], values: [1] }, 'int64')
  parts.add('ReduceSum', ['attention_mask', 'last'], 'valid', { keepdims: 0 })
  parts.add('Sub', ['valid', 'one'], 'before')
  parts.add('Cast', ['before'], 'lengths', { to: 6 })
  parts.add('Shape', ['attention_mask'], 'mask_dims')
  parts.add('Gather', ['mask_dims', 'one'], 'all')
  parts.add('Cast', ['all'], 'total', { to: 6 })
}

function addLayer(parts, x, layer, i) {
  const name = part => `layers.${i}.${part}`
  const input = parts.norm(x, name('input'))
  const [q, k, v] = ['q', 'k', 'v'].map(part => parts.multiply(input, name(part), layer[part]))
  const inputs = [q, k, v, ...pastOf(i), 'lengths', 'total']
  const attributes = { num_heads: HEADS, kv_num_heads: HEADS }
  parts.add('GroupQueryAttention', inputs, [name('attended'), ...presentOf(i)], attributes, MICROSOFT)
  const attended = parts.add('Add', [x, parts.multiply(name('attended'), name('o'), layer.o)], name('x'))
  const inner = parts.norm(attended, name('inner'))
  const gate = parts.multiply(inner, name('gate'), layer.gate)
  const silu = parts.add('Mul', [gate, parts.add('Sigmoid', [gate], name('sigmoid'))], name('silu'))
  const product = parts.add('Mul', [silu, parts.multiply(inner, name('up'), layer.up)], name('product'))
  return parts.add('Add', [attended, parts.multiply(product, name('down'), layer.down)], name('y'))
}

function writeDecoder(path, { embedding, positions, layers, head }) {
  const parts = new Parts()
  parts.constant('ones', { dims: [WIDTH], values: new Array(WIDTH).fill(1) })
  addLengths(parts)
  parts.add('Gather', [parts.constant('embedding', embedding), 'input_ids'], 'embedded')
  parts.add('Gather', [parts.constant('positions', positions), 'position_ids'], 'placed')
  const last = layers.reduce(
    (x, layer, i) => addLayer(parts, x, layer, i),
    parts.add('Add', ['embedded', 'placed'], 'x')
  )
  parts.multiply(parts.norm(last, 'normalized'), 'logits', head)
  const cache = name => port(name, 'float', [1, HEADS, 'room', SIZE])
  writeOnnx(path, {
    name: 'decoder',
    opset: 23,
    domains: { [MICROSOFT]: 1 },
    doc: 'The next word of a text; models/decoder.json has the words.',
    inputs: [
      port('input_ids', 'int64', [1, 'sequence']),
      port('position_ids', 'int64', [1, 'sequence']),
      port('attention_mask', 'int64', [1, 'total']),
      ...layers.flatMap((_, i) => pastOf(i).map(cache))
    ],
    outputs: [
      port('logits', 'float', [1, 'sequence', vocabulary.length]),
      ...layers.flatMap((_, i) => presentOf(i).map(cache))
    ],
    initializers: parts.initializers,
    nodes: parts.nodes
  })
}

/** @param path without ending */
export function writeDecoders(path) {
  const made = weights()
  writeDecoder(`${path}.onnx`, made)
  writeDecoderIr(path, made, { width: WIDTH, heads: HEADS, inner: INNER })
  writeFileSync(`${path}.json`, `${JSON.stringify({ words: vocabulary }, undefined, 2)}\n`)
}
