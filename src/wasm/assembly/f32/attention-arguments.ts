/**
 * y = softmax(q kᵀ scale + mask + further) v for all heads of all batches. Steps are in bytes, 0 where an operand is
 * the same for all; the elements of a row of q, v and y lie side by side.
 */
@unmanaged
export class AttentionArguments {
  q: usize
  k: usize
  v: usize
  mask: usize
  further: usize
  /** A score for each head, of one more key that takes its share of the weights and has no value. */
  sinks: usize
  /** Where scores go, [batches][heads][queries][keys]. */
  shown: usize
  y: usize
  heads: u32
  /** Heads that share keys and values. */
  group: u32
  queries: u32
  keys: u32
  depth: u32
  width: u32
  /** Queries of a block, and keys that are computed together: a multiple of eight. */
  rows: u32
  chunk: u32
  qBatch: usize
  qHead: usize
  qRow: usize
  kBatch: usize
  kHead: usize
  kRow: usize
  kElement: usize
  vBatch: usize
  vHead: usize
  vRow: usize
  yBatch: usize
  yHead: usize
  yRow: usize
  /** 0: none; 1: float32 that is added; 2: bytes, of which 0 hides a key; 3: bytes, of which 1 does. */
  maskKind: u32
  maskBatch: usize
  maskHead: usize
  maskRow: usize
  maskKey: usize
  /** The same of another mask, which scores have after the first one. */
  furtherKind: u32
  furtherBatch: usize
  furtherHead: usize
  furtherRow: usize
  furtherKey: usize
  /** Whether a query sees no key after its own position, which is its number and `offset`. */
  isCausal: u32
  offset: i32
  /** Whether a query sees no key before the one that has its number and `before`. */
  isWindowed: u32
  before: i32
  hasSinks: u32
  /** Which scores are shown: one of the numbers below. */
  stage: u32
  scale: f32
  /** 0, or c in c tanh(score / c). */
  softcap: f32
  /** Score of the keys that bytes hide. */
  hidden: f32
  /** What a query gives that sees no key. */
  unseen: f32
  /** Whether a query whose weights are NaN gives the same. */
  isSafe: u32
}

// Scores of all keys that are shown: scaled products, also after softcap, also with the masks, the weights; 0: none.
export const PRODUCTS: u32 = 1
export const CAPPED: u32 = 2
export const BIASED: u32 = 3
export const WEIGHTS: u32 = 4
