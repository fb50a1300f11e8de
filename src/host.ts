/**
 * What Node gives, and what stands for it in a browser. Node's modules are asked for here and never imported, so that
 * browsers can load all of the package.
 */

export const isNode = typeof process === 'object' && typeof process.getBuiltinModule === 'function'

const builtin = isNode ? process.getBuiltinModule : () => undefined

/** Not there in a browser, where no source is a file. */
export const fs = builtin('node:fs')
export const path = builtin('node:path')
export const { fileURLToPath } = builtin('node:url') ?? {}

/** Threads that the machine runs at once. */
export const parallelism = (): number =>
  isNode ? builtin('node:os').availableParallelism() : navigator.hardwareConcurrency

/** Bytes that JavaScript's own memory may take. Only some browsers tell; where it overflows, the page ends. */
export function scriptMemory(): number {
  if (isNode) return builtin('node:v8').getHeapStatistics().heap_size_limit
  return (performance as { memory?: { jsHeapSizeLimit: number } }).memory?.jsHeapSizeLimit ?? 2 ** 30
}

/** Gives the event loop a turn. Timers of a browser would wait for 4 ms. */
export const yieldToEventLoop = (): Promise<void> =>
  new Promise(resolve => {
    if (typeof setImmediate === 'function') setImmediate(resolve)
    else {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => {
        port1.close()
        resolve()
      }
      port2.postMessage(undefined)
    }
  })
