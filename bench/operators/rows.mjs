// The rows of the table of operators: one small graph each. `flops` where the row computes, else `bytes` that it has to
// read and write.
import { count } from '../rows.mjs'

/** Numbers in [-0.5, 0.5), the same in every run. */
function noise(length, scale = 1) {
  let state = length
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state / 2 ** 32 - 0.5) * scale
  })
}

const float32 = (name, dims, scale) => {
  const data = noise(count(dims), scale)
  return { name, type: 'float32', dims, bytes: Buffer.from(data.buffer) }
}
const floats = (name, values) => ({
  name,
  type: 'float32',
  dims: [values.length],
  bytes: Buffer.from(Float32Array.from(values).buffer)
})

/** A row of one node. Its inputs are x, others that are given in each run, and constants. */
const row = (name, op, { x, given = {}, constants = [], attributes = {}, out = x, flops, bytes }) => ({
  name,
  inputs: { x, ...given },
  constants,
  nodes: [
    { op, inputs: ['x', ...Object.keys(given), ...constants.map(item => item.name)], outputs: ['y'], attributes }
  ],
  out,
  flops,
  bytes: bytes ?? 4 * [x, ...Object.values(given), out].reduce((sum, dims) => sum + count(dims), 0)
})

const matmul = (m, k, n) =>
  row(`MatMul ${m} x ${k} x ${n}`, 'MatMul', {
    x: [m, k],
    constants: [float32('w', [k, n], 0.1)],
    out: [m, n],
    flops: m > 3 ? 2 * m * k * n : undefined,
    bytes: 4 * k * n
  })

const conv = (name, { channels, out: m, size, kernel, groups = 1, strides = [1, 1] }) => {
  const to = Math.ceil(size / strides[0])
  const pad = kernel >> 1
  return row(name, 'Conv', {
    x: [1, channels, size, size],
    constants: [float32('w', [m, channels / groups, kernel, kernel], 0.1)],
    attributes: { kernel_shape: [kernel, kernel], pads: [pad, pad, pad, pad], group: groups, strides },
    out: [1, m, to, to],
    flops: 2 * m * (channels / groups) * kernel * kernel * to * to
  })
}

/** Scores, probabilities and their products with values; keys are given transposed. */
const attention = (heads, length, size) => ({
  name: `attention of ${heads} heads, ${length} x ${size}`,
  inputs: { x: [heads, length, size], k: [heads, size, length], v: [heads, length, size] },
  constants: [],
  nodes: [
    { op: 'MatMul', inputs: ['x', 'k'], outputs: ['scores'] },
    { op: 'Softmax', inputs: ['scores'], outputs: ['shares'] },
    { op: 'MatMul', inputs: ['shares', 'v'], outputs: ['y'] }
  ],
  out: [heads, length, size],
  flops: 4 * heads * length * length * size
})

const codes = (name, dims) => ({
  name,
  type: 'uint8',
  dims,
  bytes: Buffer.from(noise(count(dims)).map(x => (x + 0.5) * 256))
})

/** Two of eight experts of SwiGLU for each token, with weights of float32 or in codes of so many bits. */
const experts = (name, tokens, bits) => {
  const [hidden, inner, chosen] = [1024, 2816, 2]
  const layers = [
    [8, 2 * inner, hidden],
    [8, hidden, inner]
  ]
  const constants = layers.flatMap(([all, rows, columns], i) =>
    bits === 32
      ? [float32(`w${i}`, [all, rows, columns], 0.1)]
      : [codes(`w${i}`, [all, rows, (columns * bits) / 8]), float32(`s${i}`, [all, rows, columns / 32], 0.01)]
  )
  const names = constants.map(item => item.name)
  const inputs =
    bits === 32 ? ['x', 'scores', names[0], '', names[1]] : ['x', 'scores', ...names.slice(0, 2), '', ...names.slice(2)]
  const attributes = { k: chosen, activation_type: 'swiglu', swiglu_fusion: 1 }
  const coding = { expert_weight_bits: bits, block_size: 32 }
  const isQuantized = bits < 32
  return {
    name: `${name}, ${tokens} x ${hidden}`,
    inputs: { x: [tokens, hidden], scores: [tokens, 8] },
    constants,
    nodes: [
      {
        op: isQuantized ? 'QMoE' : 'MoE',
        domain: 'com.microsoft',
        inputs,
        outputs: ['y'],
        attributes: { ...attributes, normalize_routing_weights: 1, ...(isQuantized && coding) }
      }
    ],
    out: [tokens, hidden],
    flops: tokens > 3 ? 6 * tokens * chosen * hidden * inner : undefined,
    bytes: (3 * chosen * hidden * inner * bits) / 8
  }
}

const image = [1, 64, 112, 112]

export const ROWS = [
  matmul(128, 768, 768),
  matmul(128, 768, 3072),
  matmul(1, 768, 3072),
  matmul(1, 768, 50_257),
  attention(12, 128, 64),
  conv('Conv 3 x 3, 64 channels, 56 x 56', { channels: 64, out: 64, size: 56, kernel: 3 }),
  conv('Conv 3 x 3, 64 channels, 56 x 56, stride 2', { channels: 64, out: 64, size: 56, kernel: 3, strides: [2, 2] }),
  conv('Conv 1 x 1, 256 channels, 28 x 28', { channels: 256, out: 256, size: 28, kernel: 1 }),
  conv('Conv 3 x 3, 144 channels apart, 56 x 56', { channels: 144, out: 144, size: 56, kernel: 3, groups: 144 }),
  conv('Conv 5 x 5, 240 channels apart, 28 x 28', { channels: 240, out: 240, size: 28, kernel: 5, groups: 240 }),
  row('Exp 1048576', 'Exp', { x: [1024, 1024] }),
  row('Sigmoid 1048576', 'Sigmoid', { x: [1024, 1024] }),
  row('Add 1048576', 'Add', { x: [1024, 1024], given: { b: [1024, 1024] } }),
  row('Mul 1024 x 1024 by a row', 'Mul', { x: [1024, 1024], given: { b: [1024] } }),
  row('Softmax 9000 x 1500', 'Softmax', { x: [9000, 1500] }),
  row('LayerNormalization 128 x 768', 'LayerNormalization', {
    x: [128, 768],
    constants: [float32('scale', [768]), float32('bias', [768])]
  }),
  row('Transpose 1024 x 1024', 'Transpose', { x: [1024, 1024] }),
  row('Transpose 128 x 12 x 64 to heads', 'Transpose', {
    x: [128, 12, 64],
    attributes: { perm: [1, 0, 2] },
    out: [12, 128, 64]
  }),
  row('ReduceMean of rows 1024 x 1024', 'ReduceMean', { x: [1024, 1024], attributes: { axes: [1] }, out: [1024, 1] }),
  row('ReduceMax of columns 1024 x 1024', 'ReduceMax', { x: [1024, 1024], attributes: { axes: [0] }, out: [1, 1024] }),
  row('MaxPool 3 x 3, stride 2', 'MaxPool', {
    x: image,
    attributes: { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] },
    out: [1, 64, 56, 56]
  }),
  row('GlobalAveragePool', 'GlobalAveragePool', { x: image, out: [1, 64, 1, 1] }),
  {
    ...row('Resize to twice, nearest', 'Resize', { x: image, out: [1, 64, 224, 224] }),
    constants: [floats('scales', [1, 1, 2, 2])],
    nodes: [
      {
        op: 'Resize',
        inputs: ['x', '', 'scales'],
        outputs: ['y'],
        attributes: { mode: 'nearest', coordinate_transformation_mode: 'asymmetric', nearest_mode: 'floor' }
      }
    ]
  },
  {
    ...row('Resize to twice, linear', 'Resize', { x: image, out: [1, 64, 224, 224] }),
    constants: [floats('scales', [1, 1, 2, 2])],
    nodes: [{ op: 'Resize', inputs: ['x', '', 'scales'], outputs: ['y'], attributes: { mode: 'linear' } }]
  },
  ...[1, 128].flatMap(tokens => [
    experts('MoE', tokens, 32),
    experts('QMoE of 4 bits', tokens, 4),
    experts('QMoE of 8 bits', tokens, 8)
  ])
]

/** What is given in each run, by name. */
export const feedsOf = ({ inputs }) =>
  Object.fromEntries(Object.entries(inputs).map(([name, dims]) => [name, { dims, data: noise(count(dims)) }]))
