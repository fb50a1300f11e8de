// Encoders and decoders: BART for texts, Whisper for speech; the decoder with and without a past is one file, in two
// branches, as Optimum merges them.
import { node, port } from '../models/onnx.mjs'
import { Graph } from './graph.mjs'
import {
  attention,
  causal,
  encoder,
  feedForward,
  gelu,
  layerNorm,
  linear,
  padding,
  positions,
  sizeOf
} from './layers.mjs'

const SIZES = { size: 32, heads: 4, layers: 2 }
const { size, heads, layers } = SIZES
const [MAX_POSITIONS, DEPTH] = [128, size / heads]
/** BART's first two rows of positions are not used. */
const OFFSET = 2

const floats = (name, ...dims) => port(name, 'float', ['batch_size', ...dims])

/** BART's encoder: `last_hidden_state` of `input_ids` and `attention_mask`. */
export function bartEncoder({ seed, vocabulary }) {
  const g = new Graph(seed)
  const words = g.op('Gather', [g.weight('shared', [vocabulary, size], 1), 'input_ids'])
  const places = g.op('Gather', [
    g.weight('position', [MAX_POSITIONS, size], 1),
    positions(g, 'input_ids', g.int(OFFSET))
  ])
  const x = layerNorm(g, 'embeddings', g.op('Add', [words, places]), size)
  g.result('last_hidden_state', encoder(g, x, SIZES, { mask: padding(g, 'attention_mask') }))
  const ids = name => port(name, 'int64', ['batch_size', 'encoder_sequence_length'])
  return g.bytes(
    'bart-encoder',
    [ids('input_ids'), ids('attention_mask')],
    [floats('last_hidden_state', 'encoder_sequence_length', size)]
  )
}

/** Whisper's encoder: two convolutions over the bands of a spectrogram, then layers. */
export function whisperEncoder({ seed, bands, frames }) {
  const g = new Graph(seed)
  const convolve = (name, x, from, stride) =>
    gelu(
      g,
      g.op(
        'Conv',
        [x, g.weight(`${name}.weight`, [size, from, 3], Math.sqrt(1 / from)), g.weight(`${name}.bias`, [size])],
        {
          kernel_shape: [3],
          pads: [1, 1],
          strides: [stride]
        }
      )
    )
  const waves = convolve('conv2', convolve('conv1', 'input_features', bands, 1), size, 2)
  const x = g.op('Add', [
    g.op('Transpose', [waves], { perm: [0, 2, 1] }),
    g.weight('embed_positions', [frames / 2, size], 0.5)
  ])
  g.result('last_hidden_state', layerNorm(g, 'norm', encoder(g, x, SIZES, { before: true }), size))
  return g.bytes(
    'whisper-encoder',
    [floats('input_features', bands, frames)],
    [floats('last_hidden_state', frames / 2, size)]
  )
}

const cacheNames = (prefix, i) =>
  ['decoder', 'encoder'].flatMap(of => ['key', 'value'].map(part => `${prefix}.${i}.${of}.${part}`))

const cachePorts = (prefix, own, others) =>
  Array.from({ length: layers }).flatMap((_, i) =>
    cacheNames(prefix, i).map(name => floats(name, heads, name.includes('.encoder.') ? others : own, DEPTH))
  )

/** How BART and Whisper differ. */
const KINDS = {
  bart: { offset: OFFSET, before: false, padded: true },
  whisper: { offset: 0, before: true, padded: false }
}

/** A layer: attention to itself, to the encoder's states, and two linear layers. Returns its keys and values too. */
function decoderLayer(g, i, x, { before, mask, padded, past }) {
  const name = `decoder.layers.${i}`
  const around = (part, value, apply) => {
    const norm = each => layerNorm(g, `${name}.${part}_norm`, each, size)
    const sum = g.op('Add', [value, apply(before ? norm(value) : value)])
    return before ? sum : norm(sum)
  }
  const present = []
  const keep = ({ out, k, v }) => {
    present.push(k, v)
    return out
  }
  const own = around('self', x, value => keep(attention(g, `${name}.self`, value, SIZES, { mask, past })))
  const kept = past && cacheNames('past_key_values', i).slice(2)
  const cross = around('cross', own, value =>
    keep(attention(g, `${name}.cross`, value, SIZES, { memory: 'encoder_hidden_states', mask: padded, kept }))
  )
  return { x: around('final', cross, value => feedForward(g, name, value, SIZES)), present }
}

/** A branch: its nodes, and its results under names of its own. */
function branchOf(g, kind, vocabulary, hasPast) {
  const own = g.inner()
  const { offset, before, padded } = KINDS[kind]
  const start = hasPast ? sizeOf(own, 'past_key_values.0.decoder.key', 2) : own.int(0)
  const end = own.op('Add', [start, sizeOf(own, 'input_ids', 1)])
  const words = own.op('Gather', ['shared', 'input_ids'])
  const first = offset ? own.op('Add', [start, own.int(offset)]) : start
  const places = own.op('Gather', ['decoder_position', positions(own, 'input_ids', first)])
  let x = own.op('Add', [words, places])
  if (!before) x = layerNorm(own, 'decoder.embeddings', x, size)
  const options = { before, mask: causal(own, start, end), padded: padded && padding(own, 'encoder_attention_mask') }
  // A cached branch gives no keys and values of the encoder, which do not change: Optimum has empty tensors for them.
  const nothing = hasPast && own.constant('nothing', 'float', [0, heads, 1, DEPTH], [])
  const results = []
  for (let i = 0; i < layers; i++) {
    const past = hasPast ? cacheNames('past_key_values', i).slice(0, 2) : undefined
    const layer = decoderLayer(own, i, x, { ...options, past })
    x = layer.x
    results.push(...layer.present.map((value, part) => (part > 1 && nothing) || value))
  }
  if (before) x = layerNorm(own, 'decoder.norm', x, size)
  const prefix = hasPast ? 'cached' : 'fresh'
  const outputs = [linear(own, 'lm_head', x, size, vocabulary, false), ...results].map((value, i) => {
    own.result(`${prefix}_${i}`, value)
    return port(`${prefix}_${i}`, 'float', i ? ['b', heads, `${prefix}_n${i}`, DEPTH] : ['b', 's', vocabulary])
  })
  return { name: prefix, outputs, nodes: own.nodes }
}

/** The decoder of both branches; `use_cache_branch` chooses. */
export function mergedDecoder({ seed, kind, vocabulary }) {
  const g = new Graph(seed)
  g.weight('shared', [vocabulary, size], 1)
  g.weight('decoder_position', [MAX_POSITIONS, size], 1)
  const [cached, fresh] = [true, false].map(hasPast => branchOf(g, kind, vocabulary, hasPast))
  const present = Array.from({ length: layers }).flatMap((_, i) => cacheNames('present', i))
  g.nodes.push(
    node('If', ['use_cache_branch'], ['logits', ...present], {
      then_branch: { graph: cached },
      else_branch: { graph: fresh }
    })
  )
  const ids = (name, length) => port(name, 'int64', ['batch_size', length])
  return g.bytes(
    `${kind}-decoder`,
    [
      ...(KINDS[kind].padded ? [ids('encoder_attention_mask', 'encoder_sequence_length')] : []),
      ids('input_ids', 'decoder_sequence_length'),
      floats('encoder_hidden_states', 'encoder_sequence_length', size),
      ...cachePorts('past_key_values', 'past_decoder_sequence_length', 'encoder_sequence_length_out'),
      port('use_cache_branch', 'bool', [1])
    ],
    [
      floats('logits', 'decoder_sequence_length', vocabulary),
      ...cachePorts('present', 'past_decoder_sequence_length + 1', 'encoder_sequence_length_out')
    ]
  )
}
