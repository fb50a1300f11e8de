import { Worker } from 'node:worker_threads'
import { Refusal, refusalFrom } from '../refusal.ts'
import {
  type Done,
  type EngineOptions,
  type FromEngine,
  type Item,
  memoryOf,
  type ModelInfo,
  type Port,
  type Runner,
  type RunUnderWay,
  type ToEngine
} from './messages.ts'

/** The server's end of an engine: its port, and what ends it. */
export interface EngineThread extends Port<ToEngine, FromEngine> {
  on(event: 'message', listener: (message: FromEngine) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'exit', listener: () => void): unknown
  terminate(): Promise<unknown>
}

/** Starts an engine. */
export type StartEngine = () => EngineThread

/** An engine in a thread of its own. */
export const inThread: StartEngine = () => {
  // Beside this module: compiled, a bundle, or the source.
  const script = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url)
  return new Worker(script, { env: process.env, stdin: false })
}

interface Waiting {
  readonly resolve: (done: Done) => void
  readonly reject: (error: Refusal) => void
}

/** One engine with its model. When its thread dies, what it was running is refused, and `onEnd` is called. */
export class Instance implements Runner {
  private readonly thread: EngineThread
  private readonly waiting = new Map<number, Waiting>()
  private readonly ended: (reason: string) => void
  private next = 0
  private isLoaded = false
  private isClosed = false
  private loaded: { resolve: (info: ModelInfo) => void; reject: (error: Refusal) => void } | undefined

  /** @param onEnd called once where the thread ends by itself after it was loaded */
  constructor(start: StartEngine, onEnd: (reason: string) => void) {
    this.thread = start()
    this.ended = onEnd
    this.thread.on('message', message => this.heard(message))
    this.thread.on('error', error => this.died(error.message))
    this.thread.on('exit', () => this.died('it ended'))
  }

  /** Runs that it has been given and not answered. */
  get load(): number {
    return this.waiting.size
  }

  /** @throws Refusal (as a rejection) what loading the model fails with */
  start(options: EngineOptions): Promise<ModelInfo> {
    return new Promise((resolve, reject) => {
      this.loaded = { resolve, reject }
      this.thread.postMessage({ kind: 'load', options }, [])
    })
  }

  /**
   * Runs items. The memory of their inputs goes to the engine.
   */
  run(items: readonly Item[], joined: boolean): RunUnderWay {
    const id = this.next++
    const done = new Promise<Done>((resolve, reject) => {
      if (this.isClosed) return reject(new Refusal('worker-ended', 'the engine of the model has ended'))
      this.waiting.set(id, { resolve, reject })
      const transfer = memoryOf(items.flatMap(({ feeds }) => Object.values(feeds)))
      this.thread.postMessage({ kind: 'run', id, items, joined }, transfer)
    })
    return { done, stop: () => this.thread.postMessage({ kind: 'abort', id }, []) }
  }

  /** Ends the thread. What it was running is refused. */
  async close(): Promise<void> {
    this.finish('the model was unloaded')
    await this.thread.terminate()
  }

  private heard(message: FromEngine): void {
    if (message.kind === 'loaded') {
      this.isLoaded = true
      this.loaded?.resolve(message.info)
    } else if (message.kind === 'failed') this.loaded?.reject(refusalFrom(message.refusal))
    else {
      this.waiting.get(message.id)?.resolve(message)
      this.waiting.delete(message.id)
    }
  }

  private died(reason: string): void {
    if (this.isClosed) return
    this.finish(`the engine of the model has ended: ${reason}`)
    // What starts it is told otherwise.
    if (this.isLoaded) this.ended(reason)
  }

  private finish(reason: string): void {
    this.isClosed = true
    const refusal = new Refusal('worker-ended', reason)
    this.loaded?.reject(refusal)
    for (const { reject } of this.waiting.values()) reject(refusal)
    this.waiting.clear()
  }
}
