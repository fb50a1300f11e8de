// The other runtimes as models/run.mjs and operators/run.mjs ask them: in the same process, in turn with Nodewise.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const require = createRequire(import.meta.url)

/** Imports a module by its path. */
export const importFile = path => import(pathToFileURL(path).href)

/** onnxruntime-web on WebAssembly: `Tensor`, and `open` a file, with the .bin beside it where there is one. */
export async function web(threads) {
  const ort = await importFile(require.resolve('onnxruntime-web'))
  ort.env.wasm.numThreads = threads
  ort.env.logLevel = 'error'
  return {
    Tensor: ort.Tensor,
    open: path => {
      const weights = path.replace(/\.onnx$/, '.bin')
      const externalData = existsSync(weights)
        ? [{ path: weights.slice(weights.lastIndexOf('/') + 1), data: readFileSync(weights) }]
        : []
      return ort.InferenceSession.create(readFileSync(path), { executionProviders: ['wasm'], externalData })
    }
  }
}

/** onnxruntime-node on the CPU: `Tensor`, and `open` a file. */
export function node(threads) {
  const ort = require('onnxruntime-node')
  const settings = { intraOpNumThreads: threads, interOpNumThreads: 1 }
  return { Tensor: ort.Tensor, open: path => ort.InferenceSession.create(path, settings) }
}

/**
 * Milliseconds of a pause before a turn, and of a turn, where runs have several threads: those of onnxruntime spin for
 * 20 to 30 ms after a run, and would take a core from the system that is asked next.
 */
const PAUSE = 60
const TURN = 60

/**
 * Asks all systems in turn, so that what else the machine does meets all of them. A turn is one run; with several
 * threads as many as fit into {@link TURN}, after a pause.
 * @param list `{ session, feeds }` of each system; a session may say what its last run `took` itself
 * @param seconds for each of them
 * @param rounds at least as many
 * @param threads of each system
 * @param took is given a system and the milliseconds of a run
 */
export async function inTurn(list, { seconds, rounds, threads }, took) {
  const end = performance.now() + seconds * 1000 * list.length
  for (let round = 0; round < rounds || performance.now() < end; round++) {
    for (const system of list) {
      if (threads > 1) await setTimeout(PAUSE)
      const turn = performance.now()
      for (let begin = turn; begin === turn || (threads > 1 && begin < turn + TURN); begin = performance.now()) {
        await system.session.run(system.feeds)
        took(system, system.session.took ?? performance.now() - begin)
      }
    }
  }
}

/** Largest difference as a share of the largest magnitude. */
export function differenceOf(output, reference) {
  let worst = 0
  let largest = 0
  for (let i = 0; i < reference.length; i++) {
    worst = Math.max(worst, Math.abs(Number(output[i]) - Number(reference[i])))
    largest = Math.max(largest, Math.abs(Number(reference[i])))
  }
  return worst / largest
}
