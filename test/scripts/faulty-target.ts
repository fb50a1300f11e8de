import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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

type Fault = 'untyped' | 'hang' | 'crash' | 'memory'

/**
 * Fault that a mutant shows, each time that it is read: the first mutants take one each. Processes agree through files
 * of the folder FAULTS, one a fault, which hold the sum of the mutant that took the fault.
 */
function faultOf(sum: number): Fault | undefined {
  if (bases.has(sum)) return undefined
  return (['untyped', 'hang', 'crash', 'memory'] as const).find(fault => {
    const path = join(process.env.FAULTS!, fault)
    try {
      writeFileSync(path, String(sum), { flag: 'wx' })
      return true
    } catch {
      return readFileSync(path, 'utf8') === String(sum)
    }
  })
}

/** Reads models as ever but for the mutants that show a fault. */
export async function load(source: Uint8Array | string): Promise<Model> {
  const fault = source instanceof Uint8Array ? faultOf(sumOf(source)) : undefined
  if (fault === 'untyped') throw new TypeError('cannot read this')
  // For ever, without the processor.
  if (fault === 'hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  if (fault === 'crash') process.kill(process.pid, 'SIGSEGV')
  if (fault !== 'memory') return realLoad(source)
  // Twice what is allowed, and little enough to be filled in less time than a hang takes on a busy machine.
  new Uint8Array(2 ** 27).fill(1)
  // Refused, so that no other fault hides this one.
  return realLoad(new Uint8Array(1))
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
