// Models of text: an encoder with the heads of BERT's tasks, and decoders with their caches.
import { port } from '../models/onnx.mjs'
import { Graph } from './graph.mjs'
import {
  attention,
  causal,
  encoder,
  feedForward,
  layerNorm,
  linear,
  LOWEST,
  padding,
  positions,
  sizeOf
} from './layers.mjs'

const SIZES = { size: 32, heads: 4, layers: 2 }
const MAX_POSITIONS = 64

const ids = name => port(name, 'int64', ['batch_size', 'sequence_length'])
const floats = (name, ...dims) => port(name, 'float', ['batch_size', ...dims])

/** What BERT's heads make of the last hidden state. */
const HEADS = {
  hidden: (g, x) => {
    g.result('last_hidden_state', x)
    return [floats('last_hidden_state', 'sequence_length', SIZES.size)]
  },
  sequence: (g, x, { labels }) => {
    const first = g.op('Gather', [x, g.int(0)], { axis: 1 })
    const pooled = g.op('Tanh', [linear(g, 'pooler', first, SIZES.size, SIZES.size)])
    g.result('logits', linear(g, 'classifier', pooled, SIZES.size, labels))
    return [floats('logits', labels)]
  },
  tokens: (g, x, { labels }) => {
    g.result('logits', linear(g, 'classifier', x, SIZES.size, labels))
    return [floats('logits', 'sequence_length', labels)]
  },
  spans: (g, x) => {
    const both = g.ops(2, 'Split', [linear(g, 'qa_outputs', x, SIZES.size, 2), g.ints(1, 1)], { axis: -1 })
    const names = ['start_logits', 'end_logits']
    names.forEach((name, i) => g.result(name, g.op('Squeeze', [both[i], g.ints(-1)])))
    return names.map(name => floats(name, 'sequence_length'))
  }
}

/** BERT with a head: `hidden`, `sequence` (one class for all), `tokens` (one for each), `spans` (ends of an answer). */
export function bert({ seed, form, vocabulary, head, labels }) {
  const g = new Graph(seed, form)
  const { size } = SIZES
  const words = g.op('Gather', [g.weight('word', [vocabulary, size], 1), 'input_ids'])
  const types = g.op('Gather', [g.weight('type', [2, size], 1), 'token_type_ids'])
  const places = g.op('Gather', [g.weight('position', [MAX_POSITIONS, size], 1), positions(g, 'input_ids')])
  const sum = g.op('Add', [g.op('Add', [words, types]), places])
  const x = encoder(g, layerNorm(g, 'embeddings', sum, size), SIZES, { mask: padding(g, 'attention_mask') })
  const outputs = HEADS[head](g, x, { labels })
  return g.bytes('bert', [ids('input_ids'), ids('attention_mask'), ids('token_type_ids')], outputs)
}

const cachePorts = (prefix, length, { heads, depth }) =>
  Array.from({ length: SIZES.layers }).flatMap((_, i) =>
    ['key', 'value'].map(part => floats(`${prefix}.${i}.${part}`, heads, length, depth))
  )
const pastOf = i => [`past_key_values.${i}.key`, `past_key_values.${i}.value`]

function keepPresent(g, i, k, v) {
  g.result(`present.${i}.key`, k)
  g.result(`present.${i}.value`, v)
}

const decoderInputs = cache => [
  ids('input_ids'),
  port('attention_mask', 'int64', ['batch_size', 'past_sequence_length + sequence_length']),
  ...cachePorts('past_key_values', 'past_sequence_length', cache)
]
const decoderOutputs = (vocabulary, cache) => [
  floats('logits', 'sequence_length', vocabulary),
  ...cachePorts('present', 'past_sequence_length + sequence_length', cache)
]

/** GPT-2: learned positions, caches joined by Concat. */
export function gpt2({ seed, vocabulary }) {
  const g = new Graph(seed)
  const { size, layers } = SIZES
  const words = g.op('Gather', [g.weight('wte', [vocabulary, size], 1), 'input_ids'])
  let x = g.op('Add', [words, g.op('Gather', [g.weight('wpe', [MAX_POSITIONS, size], 1), 'position_ids'])])
  const seen = causal(g, sizeOf(g, pastOf(0)[0], 2), sizeOf(g, 'attention_mask', 1))
  const mask = g.op('Max', [g.op('Add', [seen, padding(g, 'attention_mask')]), g.float(LOWEST)])
  for (let i = 0; i < layers; i++) {
    const from = layerNorm(g, `h.${i}.ln_1`, x, size)
    const { out, k, v } = attention(g, `h.${i}.attn`, from, SIZES, { mask, past: pastOf(i) })
    keepPresent(g, i, k, v)
    x = g.op('Add', [x, out])
    x = g.op('Add', [x, feedForward(g, `h.${i}.mlp`, layerNorm(g, `h.${i}.ln_2`, x, size), SIZES)])
  }
  g.result('logits', linear(g, 'lm_head', layerNorm(g, 'ln_f', x, size), size, vocabulary, false))
  const cache = { heads: SIZES.heads, depth: SIZES.size / SIZES.heads }
  const [first, ...rest] = decoderInputs(cache)
  return g.bytes('gpt2', [first, ids('position_ids'), ...rest], decoderOutputs(vocabulary, cache))
}

/** Two heads of queries, one of keys and values, of a size that onnxruntime takes. */
const LLAMA = { heads: 2, shared: 1, depth: 16 }
const MS = 'com.microsoft'

/** The tables of rotary positions, as onnxruntime's builder of generative models writes them. */
function angles(g) {
  const half = LLAMA.depth / 2
  const of = f =>
    Array.from({ length: MAX_POSITIONS * half }, (_, i) => {
      const [position, pair] = [Math.floor(i / half), i % half]
      return f(position / 10000 ** (pair / half))
    })
  const table = (name, f) => g.constant(name, 'float', [MAX_POSITIONS, half], of(f))
  return [table('cos_cache', Math.cos), table('sin_cache', Math.sin)]
}

/** Llama as onnxruntime's builder writes it: contrib operators, and weights of 4 bits where the form says so. */
export function llama({ seed, form, vocabulary }) {
  const g = new Graph(seed, form)
  const { size, layers } = SIZES
  const { heads, shared, depth } = LLAMA
  const total = g.op('Cast', [sizeOf(g, 'attention_mask', 1)], { to: 6 })
  const counts = g.op('ReduceSum', ['attention_mask', g.ints(1)], { keepdims: 0 })
  const last = g.op('Cast', [g.op('Sub', [counts, g.int(1)])], { to: 6 })
  const epsilon = { epsilon: { float: 1e-5 } }
  const scale = name => g.weight(`${name}.scale`, [size], 1)
  const tables = angles(g)
  let x = g.op('Gather', [g.weight('embed_tokens', [vocabulary, size], 1), 'input_ids'])
  let normal = g.op('SimplifiedLayerNormalization', [x, scale('input')], { ...epsilon, axis: -1, stash_type: 1 })
  const add = (name, y) => {
    const outputs = g.ops(4, 'SkipSimplifiedLayerNormalization', [x, y, scale(name)], epsilon, MS)
    ;[normal, , , x] = outputs
  }
  for (let i = 0; i < layers; i++) {
    const part = (name, from, to, y = normal) => linear(g, `layers.${i}.${name}`, y, from, to, false)
    const inputs = [part('q', size, size), part('k', size, shared * depth), part('v', size, shared * depth)]
    const [out, k, v] = g.ops(
      3,
      'GroupQueryAttention',
      [...inputs, ...pastOf(i), last, total, ...tables],
      { num_heads: heads, kv_num_heads: shared, do_rotary: 1, scale: { float: 1 / Math.sqrt(depth) } },
      MS
    )
    keepPresent(g, i, k, v)
    add(`layers.${i}.post_attention`, part('o', size, size, out))
    const gate = part('gate', size, 2 * size)
    const swish = g.op('Mul', [gate, g.op('Sigmoid', [gate])])
    add(`layers.${i}.next`, part('down', 2 * size, size, g.op('Mul', [swish, part('up', size, 2 * size)])))
  }
  g.result('logits', linear(g, 'lm_head', normal, size, vocabulary, false))
  const cache = { heads: shared, depth }
  return g.bytes('llama', decoderInputs(cache), decoderOutputs(vocabulary, cache))
}
