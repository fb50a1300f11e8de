import { readdirSync, readFileSync } from 'node:fs'
import {
  type Feeds,
  type Fetches,
  type Model,
  load as realLoad,
  InferenceSession as RealSession,
  type RunOptions,
  type Value
} from '../../src/index.ts'

export * from '../../scripts/fuzz/target.ts'

const sumOf = (bytes: Uint8Array): number => bytes.reduce((sum, byte) => sum + byte, 0)

/** The models that mutants are made of must pass. */
const bases = new Set(
  ['models', 'models/specification'].flatMap(folder =>
    readdirSync(folder)
      .filter(name => name.endsWith('.onnx'))
      .map(name => sumOf(readFileSync(`${folder}/${name}`)))
  )
)

/** Reads models as ever but for those that happen to have a certain sum: each sum shows another fault. */
export async function load(source: Uint8Array | string): Promise<Model> {
  const sum = source instanceof Uint8Array ? sumOf(source) : 0
  const fault = bases.has(sum) ? 0 : sum % 25
  if (fault === 1) throw new TypeError(`cannot read a sum of ${sum}`)
  // For ever, without the processor.
  if (fault === 2) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  if (fault === 3) process.kill(process.pid, 'SIGSEGV')
  if (fault === 4) new Uint8Array(2 ** 28).fill(1)
  return realLoad(source)
}

/** Answers zeros. */
export class InferenceSession extends RealSession {
  override async run(feeds: Feeds, second?: Fetches | RunOptions, third?: RunOptions): Promise<Record<string, Value>> {
    const outputs = await super.run(feeds, second as Fetches, third)
    for (const value of Object.values(outputs))
      if ('dims' in value)
        value.data.fill((value.data instanceof BigInt64Array || value.data instanceof BigUint64Array ? 0n : 0) as never)
    return outputs
  }
}
