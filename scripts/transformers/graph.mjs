// Builds graphs as exporters write them, with random weights that a seed decides.
import { node, onnxBytes, tensor } from '../models/onnx.mjs'

/** Mulberry32: numbers from 0 to 1. */
export function randomOf(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const countOf = dims => dims.reduce((a, b) => a * b, 1)

export class Graph {
  /**
   * @param {number} seed decides the weights
   * @param {'float' | 'int8' | 'int4'} form how linear layers hold their weights: as numbers, as onnxruntime's dynamic
   *   quantization does, or as com.microsoft MatMulNBits
   */
  constructor(seed, form = 'float') {
    this.random = randomOf(seed)
    this.form = form
    this.initializers = []
    this.known = new Set()
    this.nodes = []
    this.names = { count: 0 }
  }

  /** A graph inside this one: the same weights, nodes of its own. */
  inner() {
    return Object.assign(new Graph(0), this, { nodes: [] })
  }

  #keep(name, make) {
    if (!this.known.has(name)) this.initializers.push(make())
    this.known.add(name)
    return name
  }

  /** A weight by its name, made when it is first asked for: uniform, scaled to keep magnitudes through a layer. */
  weight(name, dims, scale = Math.sqrt(3 / Math.max(1, dims.at(-2) ?? dims[0]))) {
    return this.#keep(name, () => tensor(name, 'float', dims, this.numbers(countOf(dims), scale)))
  }

  numbers(count, scale) {
    return Array.from({ length: count }, () => Math.fround((this.random() * 2 - 1) * scale))
  }

  /** A weight with given elements. */
  constant(name, type, dims, values) {
    return this.#keep(name, () => tensor(name, type, dims, values))
  }

  ints(...values) {
    const name = `ints_${values.join('_')}`
    return this.constant(name, 'int64', [values.length], values)
  }

  int(value) {
    return this.constant(`int_${value}`, 'int64', [], [value])
  }

  float(value) {
    return this.constant(`float_${value}`, 'float', [], [value])
  }

  /** A node with one output, which it returns. */
  op(type, inputs, attributes = {}, domain = '') {
    return this.ops(1, type, inputs, attributes, domain)[0]
  }

  /** A node with several outputs. */
  ops(count, type, inputs, attributes = {}, domain = '') {
    const name = `/${type}_${this.names.count++}`
    const outputs = Array.from({ length: count }, (_, i) => `${name}_output_${i}`)
    this.nodes.push(node(type, inputs, outputs, attributes, domain))
    return outputs
  }

  /** Gives a value the name of a result. */
  result(name, value) {
    this.nodes.push(node('Identity', [value], [name]))
  }

  bytes(name, inputs, outputs) {
    return onnxBytes({
      name,
      opset: 17,
      domains: { 'com.microsoft': 1 },
      inputs,
      outputs,
      initializers: this.initializers,
      nodes: this.nodes
    })
  }
}
