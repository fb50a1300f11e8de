// Writes a decoder of 4-bit weights, filled by seed, in the form in which models for the web are published:
// GatherBlockQuantized, MatMulNBits, SimplifiedLayerNormalization, GroupQueryAttention with rotary positions.
import { writeSync } from 'node:fs'
import { randomSource, seedOf } from '../content.mjs'
import { writeOnnx } from '../onnx.mjs'

/**
 * Sizes by name. `half-billion` are those of Qwen2.5-0.5B, of which the embedding and the last product share their 136
 * million parameters; here each has its own.
 */
export const SIZES = {
  small: { width: 256, layers: 4, heads: 4, shared: 2, inner: 768, words: 4096 },
  'half-billion': { width: 896, layers: 24, heads: 14, shared: 2, inner: 4864, words: 151_936 }
}
export const HEAD = 64
/** Positions that the angles are there for. */
const POSITIONS = 1024
/** Weights that share a scale. */
const BLOCK = 32
const MICROSOFT = 'com.microsoft'
const CHUNK = 1 << 20

/** Bytes that are made while they are written: `fill(words, random)` fills a piece of at most a megabyte. */
const made = (name, size, fill) => ({
  size,
  write(file) {
    const random = randomSource(seedOf(name))
    const bytes = Buffer.alloc(Math.min(CHUNK, size))
    for (let at = 0; at < size; at += CHUNK) {
      const part = bytes.subarray(0, Math.min(CHUNK, size - at))
      fill(new Int32Array(part.buffer, part.byteOffset, part.length / 4), random)
      for (let done = 0; done < part.length;) done += writeSync(file, part, done)
    }
  }
})

const codes = words => (list, random) => list.forEach((_, i) => (list[i] = random() & words))
/** Numbers between half of `size` and one and a half. */
const around = size => (list, random) => {
  const numbers = new Float32Array(list.buffer, list.byteOffset, list.length)
  for (let i = 0; i < numbers.length; i++) numbers[i] = size * (0.5 + (random() >>> 0) / 2 ** 32)
}

class Graph {
  nodes = []
  initializers = []
  parameters = 0

  constant(name, type, dims, bytes) {
    this.initializers.push({ name, type, dims, bytes })
    return name
  }

  floats(name, dims, values) {
    return this.constant(name, 'float32', dims, Buffer.from(Float32Array.from(values).buffer))
  }

  /** Codes and scales of a matrix of `rows` rows, whose products are about as large as what they multiply. */
  coded(name, rows, columns, codeDims, scaleDims, size) {
    this.parameters += rows * columns
    return [
      this.constant(`${name}.codes`, 'uint8', codeDims, made(name, (rows * columns) / 2, codes(-1))),
      this.constant(
        `${name}.scales`,
        'float32',
        scaleDims,
        made(`${name}s`, (4 * rows * columns) / BLOCK, around(size))
      )
    ]
  }

  add(op, inputs, outputs, attributes, domain) {
    this.nodes.push({ op, inputs, outputs: [outputs].flat(), attributes, ...(domain && { domain }) })
    return outputs
  }

  norm(x, name, width) {
    const weight = this.floats(`${name}.weight`, [width], new Array(width).fill(1))
    return this.add('SimplifiedLayerNormalization', [x, weight], name, { stash_type: 1 })
  }

  multiply(x, name, k, n) {
    const blocks = k / BLOCK
    const weights = this.coded(name, n, k, [n, blocks, BLOCK / 2], [n * blocks], 0.22 / Math.sqrt(k))
    const attributes = { K: k, N: n, bits: 4, block_size: BLOCK, accuracy_level: 4 }
    return this.add('MatMulNBits', [x, ...weights], name, attributes, MICROSOFT)
  }
}

function addLayer(graph, x, i, { width, heads, shared, inner }) {
  const name = part => `layers.${i}.${part}`
  const input = graph.norm(x, name('input'), width)
  const q = graph.multiply(input, name('q'), width, heads * HEAD)
  const k = graph.multiply(input, name('k'), width, shared * HEAD)
  const v = graph.multiply(input, name('v'), width, shared * HEAD)
  const past = ['key', 'value'].map(part => `past_key_values.${i}.${part}`)
  const present = ['key', 'value'].map(part => `present.${i}.${part}`)
  const operands = [q, k, v, ...past, 'lengths', 'total', 'cos', 'sin']
  const attributes = { num_heads: heads, kv_num_heads: shared, do_rotary: 1 }
  const [attended] = graph.add('GroupQueryAttention', operands, [name('attended'), ...present], attributes, MICROSOFT)
  const joined = graph.add('Add', [x, graph.multiply(attended, name('o'), heads * HEAD, width)], name('x'))
  const normal = graph.norm(joined, name('inner'), width)
  const gate = graph.multiply(normal, name('gate'), width, inner)
  const silu = graph.add('Mul', [gate, graph.add('Sigmoid', [gate], name('sigmoid'))], name('silu'))
  const product = graph.add('Mul', [silu, graph.multiply(normal, name('up'), width, inner)], name('product'))
  return graph.add('Add', [joined, graph.multiply(product, name('down'), inner, width)], name('y'))
}

function addAngles(graph) {
  const angles = Array.from({ length: (POSITIONS * HEAD) / 2 }, (_, at) => {
    const [position, pair] = [Math.floor(at / (HEAD / 2)), at % (HEAD / 2)]
    return position / 10_000 ** ((2 * pair) / HEAD)
  })
  for (const table of ['cos', 'sin']) graph.floats(table, [POSITIONS, HEAD / 2], angles.map(Math[table]))
}

/** @returns how many parameters the model has */
export function writeDecoder(path, sizes) {
  const { width, layers, shared, words } = sizes
  const graph = new Graph()
  addAngles(graph)
  const table = graph.coded('embedding', words, width, [words, width / 2], [words, width / BLOCK], 0.2)
  const attributes = { bits: 4, block_size: BLOCK, gather_axis: 0, quantize_axis: 1 }
  let x = graph.add('GatherBlockQuantized', [table[0], 'ids', table[1]], 'embedded', attributes, MICROSOFT)
  for (let i = 0; i < layers; i++) x = addLayer(graph, x, i, sizes)
  graph.multiply(graph.norm(x, 'normal', width), 'logits', width, words)
  const caches = (prefix, rows) =>
    Array.from({ length: layers }, (_, i) =>
      ['key', 'value'].map(part => ({ name: `${prefix}.${i}.${part}`, type: 'float32', dims: [1, shared, rows, HEAD] }))
    ).flat()
  writeOnnx(path, {
    inputs: [
      { name: 'ids', type: 'int64', dims: [1, 'sequence'] },
      { name: 'lengths', type: 'int32', dims: [1] },
      { name: 'total', type: 'int32', dims: [] },
      ...caches('past_key_values', 'past')
    ],
    outputs: [{ name: 'logits', type: 'float32', dims: [1, 'sequence', words] }, ...caches('present', 'all')],
    nodes: graph.nodes,
    initializers: graph.initializers
  })
  return graph.parameters
}
