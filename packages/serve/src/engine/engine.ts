import { InferenceSession, isTensor, type PortInfo, type Propagation, Tensor, type Value } from 'nodewise'
import { plainRefusal, Refusal, refusalOf } from '../refusal.ts'
import type { PlainTensor } from '../tensors/datatypes.ts'
import { whyNotBatched } from './independence.ts'
import { joinFeeds, rowsOf, splitOutputs } from './join.ts'
import {
  type Done,
  type EngineOptions,
  type FromEngine,
  type Item,
  type ItemResult,
  memoryOf,
  type ModelInfo,
  type ModelPort,
  type PlainFeeds,
  type Port,
  type Runner,
  type RunUnderWay,
  type ToEngine
} from './messages.ts'

type Plain = Record<string, PlainTensor>
type Times = { input: number; infer: number; output: number }

/**
 * Runs a model for the server at the other end of a port: it loads the model that it is told to, and then runs what it
 * is sent, one after the other. It lives in a thread of its own, so that the server answers while a model runs.
 */
export function serveEngine(port: Port<FromEngine, ToEngine>): void {
  const stops = new Map<number, AbortController>()
  let session: Promise<InferenceSession> | undefined
  let turn: Promise<unknown> = Promise.resolve()
  port.on('message', message => {
    if (message.kind === 'load') {
      const { path, ...options } = message.options
      session = InferenceSession.create(path, options)
      // Told below; a failed session answers no run.
      session
        .then(ready => port.postMessage({ kind: 'loaded', info: infoOf(ready) }, []))
        .catch((error: unknown) => port.postMessage({ kind: 'failed', refusal: plainRefusal(refusalOf(error)) }, []))
    } else if (message.kind === 'abort') stops.get(message.id)?.abort()
    else {
      const { id, items, joined } = message
      const stop = new AbortController()
      stops.set(id, stop)
      turn = turn.then(async () => {
        const times = { input: 0, infer: 0, output: 0 }
        const results = await runItems(await session!, { items, joined, signal: stop.signal, times })
        stops.delete(id)
        const outputs = results.flatMap(result => ('outputs' in result ? Object.values(result.outputs) : []))
        port.postMessage({ kind: 'done', id, results, times }, memoryOf(outputs))
      })
    }
  })
}

interface Run {
  readonly items: readonly Item[]
  readonly joined: boolean
  readonly signal?: AbortSignal
  readonly times: Times
}

/** Runs a model in the thread of its caller, which waits for it: for runs that take less than the way to another. */
export class Near implements Runner {
  private readonly session: InferenceSession
  private last: Promise<unknown> = Promise.resolve()
  load = 0

  private constructor(session: InferenceSession) {
    this.session = session
  }

  /** @throws NodewiseError (as a rejection) what loading the model fails with */
  static async load({ path, ...options }: EngineOptions): Promise<Near> {
    return new Near(await InferenceSession.create(path, options))
  }

  run(items: readonly Item[], joined: boolean): RunUnderWay {
    const done = this.runNow(items, joined)
    this.last = done
    return { done, stop: () => undefined }
  }

  /** Frees its memory when what it runs has ended. */
  async close(): Promise<void> {
    await this.last
    this.session.dispose()
  }

  private async runNow(items: readonly Item[], joined: boolean): Promise<Done> {
    const times = { input: 0, infer: 0, output: 0 }
    this.load++
    try {
      return { results: await runItems(this.session, { items, joined, times }), times }
    } finally {
      this.load--
    }
  }
}

async function runItems(session: InferenceSession, { items, joined, signal, times }: Run): Promise<ItemResult[]> {
  if (joined && items.length > 1) {
    try {
      const start = performance.now()
      const feeds = joinFeeds(items)
      times.input += performance.now() - start
      const outputs = await runOne(session, feeds, items[0].fetches, signal, times)
      const parts = splitOutputs(
        outputs,
        items.map(item => rowsOf(item.feeds) ?? 0)
      )
      return parts.map(part => ({ outputs: part }))
    } catch {
      // One of them may be at fault: each has its own answer then.
    }
  }
  const results: ItemResult[] = []
  for (const { feeds, fetches } of items) {
    try {
      results.push({ outputs: await runOne(session, feeds, fetches, signal, times) })
    } catch (error) {
      results.push({ refusal: plainRefusal(refusalOf(error)) })
    }
  }
  return results
}

async function runOne(
  session: InferenceSession,
  feeds: PlainFeeds,
  fetches: readonly string[],
  signal: AbortSignal | undefined,
  times: Times
): Promise<Plain> {
  const start = performance.now()
  const given = Object.fromEntries(
    Object.entries(feeds).map(([name, { type, dims, data }]) => [name, new Tensor(type, data, dims)])
  )
  // A request sees nothing of those before it: variables of the model begin anew.
  session.resetState()
  const started = performance.now()
  const values: Record<string, Value> = await session.run(given, fetches, signal && { signal })
  const ended = performance.now()
  const outputs = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, plainOf(name, value)]))
  times.input += started - start
  times.infer += ended - started
  times.output += performance.now() - ended
  return outputs
}

function plainOf(name: string, value: Value): PlainTensor {
  if (!isTensor(value)) throw new Refusal('not-supported', `output "${name}" is a ${value.type}, no tensor`)
  const { type, dims, data } = value
  return { type, dims: [...dims], data }
}

/** What is told of a model: what it declares, and where it declares nothing what follows from its nodes. */
function infoOf(session: InferenceSession): ModelInfo {
  const { model } = session
  const found = session.propagation()
  const inputs = session.inputMetadata.flatMap((port, i) => {
    const isOptional = found.bound.constants.has(model.graph.inputs[i].value)
    return portOf(port, undefined).map(one => (isOptional ? { ...one, isOptional } : one))
  })
  const outputs = session.outputMetadata.flatMap((port, i) =>
    portOf(port, found.facts.get(model.graph.outputs[i].value))
  )
  const why = whyNotBatched(model, found)
  return {
    dialect: model.dialect,
    inputs,
    outputs,
    weightBytes: [...found.bound.constants.values()].reduce((sum, { byteLength }) => sum + byteLength, 0),
    ...(why !== undefined && { notBatched: why })
  }
}

type FactOf = Propagation['facts'] extends ReadonlyMap<string, infer F> ? F : never

/** Nothing for what is no tensor: the protocol cannot say it. */
function portOf(port: PortInfo, fact: FactOf | undefined): ModelPort[] {
  if (!port.isTensor && (port.declared !== undefined || fact?.kind !== 'tensor')) return []
  const known = fact?.kind === 'tensor' ? fact : undefined
  const type = (port.isTensor ? port.type : undefined) ?? known?.type
  const shape: readonly unknown[] | undefined = (port.isTensor ? port.shape : undefined) ?? known?.shape
  return [
    {
      name: port.name,
      ...(type !== undefined && { type }),
      ...(shape && { shape: shape.map(dim => (typeof dim === 'number' ? dim : -1)) })
    }
  ]
}
