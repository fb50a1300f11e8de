// Models of pictures and of sound: ViT, a network of convolutions, DETR, wav2vec2.
import { port } from '../models/onnx.mjs'
import { Graph } from './graph.mjs'
import { attention, encoder, feedForward, gelu, layerNorm, linear, padding, sizeOf } from './layers.mjs'

const SIZES = { size: 32, heads: 4, layers: 2 }
const { size } = SIZES

const PIXELS = port('pixel_values', 'float', ['batch_size', 'num_channels', 'height', 'width'])
const floats = (name, ...dims) => port(name, 'float', ['batch_size', ...dims])

function convolve(g, name, x, from, to, { kernel, stride = 1, pad = 0, rank = 2, group = 1 }) {
  const fill = value => new Array(rank).fill(value)
  const depth = from / group
  const scale = Math.sqrt(3 / (depth * kernel ** rank))
  const weights = [g.weight(`${name}.weight`, [to, depth, ...fill(kernel)], scale), g.weight(`${name}.bias`, [to], 0.1)]
  return g.op('Conv', [x, ...weights], {
    kernel_shape: fill(kernel),
    strides: fill(stride),
    pads: [...fill(pad), ...fill(pad)],
    group
  })
}

/** One row of weights for each sample. */
function eachSample(g, name, x, rows) {
  const batch = g.op('Unsqueeze', [sizeOf(g, x, 0), g.ints(0)])
  const dims = g.op('Concat', [batch, g.ints(rows), g.ints(size)], { axis: 0 })
  return g.op('Expand', [g.weight(name, [1, rows, size], 1), dims])
}

/** `[batch, channels, height, width]` as `[batch, height * width, channels]`. */
const asTokens = (g, x) => g.op('Transpose', [g.op('Reshape', [x, g.ints(0, 0, -1)])], { perm: [0, 2, 1] })

/** ViT: patches of the picture as tokens, the class read from one before them. */
export function vit({ seed, side, patch, labels }) {
  const g = new Graph(seed)
  const patches = asTokens(g, convolve(g, 'patches', 'pixel_values', 3, size, { kernel: patch, stride: patch }))
  const tokens = g.op('Concat', [eachSample(g, 'cls_token', 'pixel_values', 1), patches], { axis: 1 })
  const places = g.weight('position', [1, (side / patch) ** 2 + 1, size], 0.5)
  const x = layerNorm(g, 'norm', encoder(g, g.op('Add', [tokens, places]), SIZES, { before: true }), size)
  g.result('logits', linear(g, 'classifier', g.op('Gather', [x, g.int(0)], { axis: 1 }), size, labels))
  return g.bytes('vit', [PIXELS], [floats('logits', labels)])
}

function batchNorm(g, name, x, channels) {
  const near = (part, base, spread) =>
    g.constant(
      `${name}.${part}`,
      'float',
      [channels],
      g.numbers(channels, spread).map(value => base + value)
    )
  const inputs = [near('weight', 1, 0.2), near('bias', 0, 0.1), near('mean', 0, 0.1), near('var', 1, 0.3)]
  return g.op('BatchNormalization', [x, ...inputs], { epsilon: { float: 1e-5 } })
}

const reluConv = (g, name, x, from, to, options) =>
  g.op('Relu', [batchNorm(g, `${name}.norm`, convolve(g, name, x, from, to, options), to)])

/** The beginning of a ResNet: a quarter of the sides, with a block around which the data goes, too. */
function residual(g, x, to) {
  const wide = reluConv(g, 'stem', x, 3, 16, { kernel: 7, stride: 2, pad: 3 })
  const small = g.op('MaxPool', [wide], { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] })
  const inner = reluConv(g, 'block.conv1', small, 16, to, { kernel: 3, stride: 2, pad: 1 })
  const outer = batchNorm(g, 'block.norm2', convolve(g, 'block.conv2', inner, to, to, { kernel: 3, pad: 1 }), to)
  const around = convolve(g, 'block.around', small, 16, to, { kernel: 1, stride: 2 })
  return g.op('Relu', [g.op('Add', [outer, around])])
}

export function resnet({ seed, labels }) {
  const g = new Graph(seed)
  const pooled = g.op('Flatten', [g.op('GlobalAveragePool', [residual(g, 'pixel_values', size)])], { axis: 1 })
  g.result('logits', linear(g, 'classifier', pooled, size, labels))
  return g.bytes('resnet', [PIXELS], [floats('logits', labels)])
}

/** DETR: queries that look at a picture's features; each gives a class and a box. */
export function detr({ seed, labels, queries }) {
  const g = new Graph(seed)
  const features = residual(g, 'pixel_values', size)
  // The mask of pixels at the size of the features.
  const wide = g.op('Unsqueeze', [g.op('Cast', ['pixel_mask'], { to: 1 }), g.ints(1)])
  const ends = g.op('Slice', [g.op('Shape', [features]), g.ints(2), g.ints(4), g.ints(0)])
  const starts = g.op('Slice', [g.op('Shape', [wide]), g.ints(0), g.ints(2), g.ints(0)])
  const sizes = g.op('Concat', [starts, ends], { axis: 0 })
  const small = g.op('Resize', [wide, '', '', sizes], {
    mode: 'nearest',
    nearest_mode: 'floor',
    coordinate_transformation_mode: 'asymmetric'
  })
  const seen = g.op('Cast', [g.op('Reshape', [small, g.ints(0, -1)])], { to: 7 })
  const memory = encoder(g, asTokens(g, features), SIZES, { mask: padding(g, seen) })
  let x = eachSample(g, 'query_position', 'pixel_values', queries)
  for (let i = 0; i < SIZES.layers; i++) {
    const norm = (part, value) => layerNorm(g, `decoder.${i}.${part}_norm`, value, size)
    x = norm('self', g.op('Add', [x, attention(g, `decoder.${i}.self`, x, SIZES).out]))
    const cross = attention(g, `decoder.${i}.cross`, x, SIZES, { memory, mask: padding(g, seen) }).out
    x = norm('cross', g.op('Add', [x, cross]))
    x = norm('final', g.op('Add', [x, feedForward(g, `decoder.${i}`, x, SIZES)]))
  }
  g.result('logits', linear(g, 'class_labels', x, size, labels + 1))
  const hidden = g.op('Relu', [linear(g, 'bbox.0', x, size, size)])
  g.result('pred_boxes', g.op('Sigmoid', [linear(g, 'bbox.1', hidden, size, 4)]))
  return g.bytes(
    'detr',
    [PIXELS, port('pixel_mask', 'int64', ['batch_size', 'mask_height', 'mask_width'])],
    [floats('logits', queries, labels + 1), floats('pred_boxes', queries, 4)]
  )
}

/** wav2vec2: convolutions over the samples, a convolution in groups for positions, and a class for each 20 ms. */
export function wav2vec2({ seed, vocabulary }) {
  const g = new Graph(seed)
  const samples = g.op('Unsqueeze', ['input_values', g.ints(1)])
  const first = convolve(g, 'conv.0', samples, 1, size, { kernel: 10, stride: 5, rank: 1 })
  const [ones, zeros] = [1, 0].map(value => g.constant(`norm.${value}`, 'float', [size], new Array(size).fill(value)))
  let x = gelu(g, g.op('InstanceNormalization', [first, ones, zeros], { epsilon: { float: 1e-5 } }))
  for (const [i, kernel] of [3, 3, 3, 3, 2, 2].entries())
    x = gelu(g, convolve(g, `conv.${i + 1}`, x, size, size, { kernel, stride: 2, rank: 1 }))
  const features = layerNorm(g, 'features', g.op('Transpose', [x], { perm: [0, 2, 1] }), size)
  const turned = g.op('Transpose', [features], { perm: [0, 2, 1] })
  const places = gelu(g, convolve(g, 'position', turned, size, size, { kernel: 15, pad: 7, rank: 1, group: 4 }))
  const placed = g.op('Add', [features, g.op('Transpose', [places], { perm: [0, 2, 1] })])
  const hidden = encoder(g, layerNorm(g, 'norm', placed, size), SIZES, {})
  g.result('logits', linear(g, 'lm_head', hidden, size, vocabulary))
  return g.bytes(
    'wav2vec2',
    [port('input_values', 'float', ['batch_size', 'sequence_length'])],
    [floats('logits', 'frames', vocabulary)]
  )
}
