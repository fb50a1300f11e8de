// What may become of a mutant, as one byte each in a file that outlives the process which writes it.

const STAGES = ['load', 'check', 'run', 'ran']
const CODES = [
  '',
  'unfed',
  'invalid-file',
  'unsupported-version',
  'unsupported-op',
  'missing-file',
  'outside-folder',
  'limit-exceeded',
  'invalid-graph',
  'missing-input',
  'unexpected-input',
  'type-mismatch',
  'shape-mismatch',
  'rank-mismatch',
  'dims-mismatch',
  'type-not-allowed',
  'index-type-not-allowed',
  'axis-out-of-range',
  'batch-dims-out-of-range',
  'batch-dims-mismatch',
  'index-out-of-range',
  'rank-zero-data',
  'missing-attribute',
  'unknown-attribute-value',
  'wrong-input-count',
  'wrong-output-count',
  'value-out-of-range',
  'aborted',
  'other'
]
export const NOT_RUN = 0
export const FOUND = 255

/** Where the bytes of the mutants begin: before them stands the number of the one that is under way. */
export const HEAD = 4
/** No mutant is under way yet. */
export const STARTING = 0xffffffff

export function outcomeByte({ stage, code, problem }) {
  if (problem) return FOUND
  const at = CODES.indexOf(code)
  return 1 + STAGES.indexOf(stage) * CODES.length + (at < 0 ? CODES.length - 1 : at)
}

/** How often each outcome occurs in a file, by name. */
export function countOutcomes(bytes) {
  const counts = new Map()
  for (const byte of bytes) {
    const at = byte - 1
    const name =
      byte === NOT_RUN
        ? 'killed or not run'
        : byte === FOUND
          ? 'FOUND'
          : `${STAGES[Math.floor(at / CODES.length)]} ${CODES[at % CODES.length]}`.trim()
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}
