// Layers of transformers, node by node as PyTorch's exporter writes them.

/** What PyTorch adds to the scores of masked positions: the lowest float32. */
export const LOWEST = -3.4028234663852886e38

/** `x W + b`; the weights as the graph holds them. */
export function linear(g, name, x, from, to, bias = true) {
  const product = { float: product32, int8: product8, int4: product4 }[g.form](g, name, x, from, to)
  return bias ? g.op('Add', [product, g.weight(`${name}.bias`, [to], 0.1)]) : product
}

const product32 = (g, name, x, from, to) => g.op('MatMul', [x, g.weight(`${name}.weight`, [from, to])])

/** As `quantize_dynamic` of onnxruntime: inputs are quantized in each run, weights once. */
function product8(g, name, x, from, to) {
  const codes = Array.from({ length: from * to }, () => Math.floor(g.random() * 255))
  const weight = g.constant(`${name}.weight_quantized`, 'uint8', [from, to], codes)
  const zero = g.constant(`${name}.weight_zero_point`, 'uint8', [], [127])
  const scale = g.constant(`${name}.weight_scale`, 'float', [], [Math.sqrt(3 / from) / 127])
  const [quantized, inputScale, inputZero] = g.ops(3, 'DynamicQuantizeLinear', [x])
  const product = g.op('Cast', [g.op('MatMulInteger', [quantized, weight, inputZero, zero])], { to: 1 })
  return g.op('Mul', [product, g.op('Mul', [inputScale, scale])])
}

/** Codes of 4 bits in blocks of 32 along the depth, two in a byte. */
function product4(g, name, x, from, to) {
  const blocks = Math.ceil(from / 32)
  const bytes = Array.from({ length: to * blocks * 16 }, () => Math.floor(g.random() * 256))
  const weight = g.constant(`${name}.weight_Q4`, 'uint8', [to, blocks, 16], bytes)
  const scales = g.constant(
    `${name}.weight_scales`,
    'float',
    [to * blocks],
    Array.from({ length: to * blocks }, () => (Math.sqrt(3 / from) / 8) * (0.5 + g.random()))
  )
  const attributes = { K: from, N: to, bits: 4, block_size: 32 }
  return g.op('MatMulNBits', [x, weight, scales], attributes, 'com.microsoft')
}

export const layerNorm = (g, name, x, size) =>
  g.op(
    'LayerNormalization',
    [
      x,
      g.constant(
        `${name}.weight`,
        'float',
        [size],
        g.numbers(size, 0.2).map(value => 1 + value)
      ),
      g.weight(`${name}.bias`, [size], 0.1)
    ],
    { axis: -1, epsilon: { float: 1e-5 } }
  )

/** `x * (1 + erf(x / √2)) / 2`. */
export function gelu(g, x) {
  const erf = g.op('Erf', [g.op('Div', [x, g.float(Math.SQRT2)])])
  return g.op('Mul', [g.op('Mul', [x, g.op('Add', [erf, g.float(1)])]), g.float(0.5)])
}

/** `[batch, length, count * depth]` as `[batch, count, length, depth]`. */
export const split = (g, x, count, depth) =>
  g.op('Transpose', [g.op('Reshape', [x, g.ints(0, 0, count, depth)])], { perm: [0, 2, 1, 3] })

/** The heads' weighted means of values, side by side; `mask` is added to the scores. */
export function attend(g, q, k, v, mask, depth) {
  const turned = g.op('Transpose', [k], { perm: [0, 1, 3, 2] })
  const scores = g.op('Mul', [g.op('MatMul', [q, turned]), g.float(1 / Math.sqrt(depth))])
  const weights = g.op('Softmax', [mask ? g.op('Add', [scores, mask]) : scores], { axis: -1 })
  const together = g.op('Transpose', [g.op('MatMul', [weights, v])], { perm: [0, 2, 1, 3] })
  return g.op('Reshape', [together, g.ints(0, 0, -1)])
}

/**
 * Attention from `x` to `memory` (itself, where nothing else is given); returns what it gives, and the keys and values,
 * with those of `past` before them. `kept` are keys and values that are complete already.
 */
export function attention(g, name, x, { size, heads }, { memory = x, mask, past, kept } = {}) {
  const depth = size / heads
  const project = (part, from) => split(g, linear(g, `${name}.${part}_proj`, from, size, size), heads, depth)
  const q = project('q', x)
  const joined = (part, i) => {
    const fresh = project(part, memory)
    return past ? g.op('Concat', [past[i], fresh], { axis: 2 }) : fresh
  }
  const [k, v] = kept ?? [joined('k', 0), joined('v', 1)]
  const out = linear(g, `${name}.out_proj`, attend(g, q, k, v, mask, depth), size, size)
  return { out, k, v }
}

export const feedForward = (g, name, x, { size }, act = gelu) =>
  linear(g, `${name}.fc2`, act(g, linear(g, `${name}.fc1`, x, size, 2 * size)), 2 * size, size)

/** A layer of an encoder, with its normalizations behind (BERT, BART) or before (ViT, Whisper) what they belong to. */
export function encoderLayer(g, name, x, sizes, { mask, before = false } = {}) {
  const norm = (part, value) => layerNorm(g, `${name}.${part}_norm`, value, sizes.size)
  const first = attention(g, `${name}.attention`, before ? norm('attention', x) : x, sizes, { mask }).out
  const middle = g.op('Add', [x, first])
  const between = before ? middle : norm('attention', middle)
  const second = feedForward(g, name, before ? norm('final', between) : between, sizes)
  const sum = g.op('Add', [between, second])
  return before ? sum : norm('final', sum)
}

export function encoder(g, x, sizes, options) {
  return Array.from({ length: sizes.layers }).reduce(
    (value, _, i) => encoderLayer(g, `encoder.layers.${i}`, value, sizes, options),
    x
  )
}

/** What is added to the scores: 0 where the mask `[batch, keys]` of integers is 1, else the lowest number. */
export function padding(g, mask) {
  const wide = g.op('Cast', [g.op('Unsqueeze', [mask, g.ints(1, 2)])], { to: 1 })
  return g.op('Mul', [g.op('Sub', [g.float(1), wide]), g.float(LOWEST)])
}

/** The size of an axis as a scalar. */
export const sizeOf = (g, x, axis) => g.op('Gather', [g.op('Shape', [x]), g.int(axis)], { axis: 0 })

/** The positions from `start` on, as many as `ids` has columns. */
export const positions = (g, ids, start = g.int(0)) =>
  g.op('Range', [start, g.op('Add', [start, sizeOf(g, ids, 1)]), g.int(1)])

/** Hides the keys behind each query; `start` is the position of the first query, `end` the number of keys. */
export function causal(g, start, end) {
  const queries = g.op('Unsqueeze', [g.op('Range', [start, end, g.int(1)]), g.ints(1)])
  const keys = g.op('Unsqueeze', [g.op('Range', [g.int(0), end, g.int(1)]), g.ints(0)])
  const seen = g.op('LessOrEqual', [keys, queries])
  return g.op('Where', [seen, g.float(0), g.float(LOWEST)])
}
