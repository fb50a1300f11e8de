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
