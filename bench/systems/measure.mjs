// What every system written in JavaScript shares: reading a job, timing, and the answer.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const ARRAYS = {
  float32: Float32Array,
  float16: Uint16Array,
  uint8: Uint8Array,
  int32: Int32Array,
  int64: BigInt64Array
}

/** The elements of an input's file as `onnxruntime-common` wants them. */
export function read({ type, file }) {
  if (type === 'string') return JSON.parse(readFileSync(file, 'utf8'))
  const bytes = readFileSync(file)
  return new ARRAYS[type](bytes.buffer, bytes.byteOffset, bytes.length / ARRAYS[type].BYTES_PER_ELEMENT)
}

/** An array for an output; undefined for strings. */
export const arrayFor = ({ type, dims }) =>
  type === 'string' ? undefined : new ARRAYS[type](dims.reduce((a, b) => a * b, 1))

/**
 * SHA-1 of the elements' bytes; of strings, of their JSON. The bytes are copied, since hashing wants no shared memory.
 */
export function checksum(data) {
  const bytes = Array.isArray(data)
    ? JSON.stringify(data)
    : Uint8Array.from(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
  return createHash('sha1').update(bytes).digest('hex')
}

/** Shortest time that one sample may take, in milliseconds: shorter runs are timed many at once. */
const SAMPLE = 0.2

/**
 * Times `run` after warming up.
 * @param run makes one run; its result is the output
 * @param options `repeats`: samples at least; `seconds`: time at least (warm-up takes as much: JavaScript compiles
 *   while it runs)
 * @returns milliseconds (`median`, `min`), `samples`, and the `checksum` of the last output
 */
export async function measure(run, { repeats, seconds }) {
  let runs = 0
  let start = performance.now()
  do await run()
  while (++runs < 3 || performance.now() - start < 1000 * seconds)
  const batch = Math.ceil(SAMPLE / ((performance.now() - start) / runs))
  const times = []
  const begun = performance.now()
  let output
  while (times.length < repeats || performance.now() - begun < 1000 * seconds) {
    start = performance.now()
    for (let i = 0; i < batch; i++) output = await run()
    times.push((performance.now() - start) / batch)
  }
  times.sort((a, b) => a - b)
  const middle = times.length >> 1
  const median = times.length % 2 === 1 ? times[middle] : (times[middle - 1] + times[middle]) / 2
  return { median, min: times[0], samples: times.length, checksum: checksum(output) }
}

/** The job that the parent gave: the model, its inputs and output, threads and how often to measure. */
export const job = () => JSON.parse(process.argv[2])

/** Answers with the cells, by mode, and ends the process whatever threads are left. */
export function answer(cells) {
  process.stdout.write(JSON.stringify(cells), () => process.exit(0))
}
