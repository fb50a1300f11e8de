import {
  InferenceSession,
  isTensor,
  type Model,
  parseTensor,
  readNpy,
  readNpz,
  readTensorProto,
  Tensor,
  type Value
} from 'nodewise'
import { shapesWith, type Sizes } from './facts.ts'
import type { Flat } from './flatten.ts'
import { numbersOf, type Statistics, statisticsOf } from './numbers.ts'
import { tell } from './rpc.ts'

/** How an input comes to a value. */
export type Filling =
  | { readonly how: 'zeros' | 'ones' | 'random' }
  | { readonly how: 'literal'; readonly text: string }
  | { readonly how: 'file'; readonly name: string; readonly bytes: Uint8Array }

/** An input as the page offers it. */
export interface InputField {
  readonly name: string
  readonly type: string
  readonly dims: string
}

/** What a run is asked for. */
export interface RunRequest {
  readonly inputs: ReadonlyMap<string, Filling>
  readonly sizes: Sizes
  readonly seed: number
  /** Records after which the run waits. */
  readonly breakpoints: readonly number[]
  /** The run waits after the first value that has NaN or infinities in it. */
  readonly stopsAtNan: boolean
  /** The run waits after its first node. */
  readonly stepwise: boolean
}

/** A node that has run: what each value that it made is like. */
export interface Step {
  readonly record: number
  readonly milliseconds: number
  readonly values: readonly {
    readonly value: number
    readonly type: string
    readonly dims: readonly number[]
    readonly statistics?: Statistics
  }[]
}

/** Bytes of values that are kept to be looked at; of later ones the statistics remain. */
const MOST_KEPT = 512 << 20
/** Milliseconds between two reports to the page. */
const REPORT = 60

/** A run under way, and what is left of it afterwards. */
export class Running {
  readonly values = new Map<number, Value>()
  private readonly abort = new AbortController()
  private readonly model: Model
  private readonly flat: Flat
  private readonly request: RunRequest
  private kept = 0
  private resume: ((how: 'step' | 'run') => void) | undefined

  constructor(model: Model, flat: Flat, request: RunRequest) {
    this.model = model
    this.flat = flat
    this.request = request
  }

  stop(): void {
    this.abort.abort()
    this.resume?.('run')
  }

  go(how: 'step' | 'run'): void {
    this.resume?.(how)
  }

  async run(): Promise<{ readonly milliseconds: number; readonly steps: number }> {
    const { model, request } = this
    const feeds = feedsFor(model, request)
    const session = new InferenceSession(model, { seed: request.seed })
    const records = recordsOf(this.flat)
    const started = performance.now()
    let waited = 0
    let isStepping = request.stepwise
    let watches = request.stopsAtNan
    let batch: Step[] = []
    let count = 0
    let reported = started
    const report = (): void => {
      if (batch.length > 0) tell('steps', batch)
      batch = []
      reported = performance.now()
    }
    this.keepInputs(feeds)
    const stops = new Set(request.breakpoints)
    try {
      for await (const { node, outputs, milliseconds } of session.walk(feeds, undefined, {
        signal: this.abort.signal
      })) {
        const record = records(node) ?? -1
        const step = this.stepOf(record, outputs, milliseconds)
        batch.push(step)
        count++
        if (performance.now() - reported > REPORT) report()
        const isBad = watches && step.values.some(isNotFinite)
        if (!isStepping && !isBad && !stops.has(record)) continue
        report()
        const before = performance.now()
        isStepping = (await this.wait(record)) === 'step'
        waited += performance.now() - before
        // What follows has NaN of this one.
        if (isBad) watches = false
      }
    } finally {
      report()
      session.dispose()
    }
    return { milliseconds: performance.now() - started - waited, steps: count }
  }

  private async wait(record: number): Promise<'step' | 'run'> {
    tell('paused', record)
    const how = await new Promise<'step' | 'run'>(resolve => {
      this.resume = resolve
    })
    this.resume = undefined
    tell('resumed', record)
    return how
  }

  private keepInputs(feeds: Readonly<Record<string, Value>>): void {
    const { columns, outputs } = this.flat
    const steps: Step[] = []
    columns.names.forEach((name, record) => {
      const value = feeds[name]
      if (columns.kind[record] === 1 && value)
        steps.push(
          this.stepOf(
            record,
            outputs[record].map(() => value),
            0
          )
        )
    })
    tell('steps', steps)
  }

  private stepOf(record: number, outputs: readonly (Value | undefined)[], milliseconds: number): Step {
    const indices = record < 0 ? [] : this.flat.outputs[record]
    const values = indices.flatMap((value, i): Step['values'] => {
      const made = outputs[i]
      if (value === undefined || made === undefined) return []
      if (!isTensor(made)) return [{ value, type: made.type, dims: [] }]
      this.keep(value, made)
      const numbers = numbersOf(made)
      return [{ value, type: made.type, dims: made.dims, ...(numbers && { statistics: statisticsOf(numbers) }) }]
    })
    return { record, milliseconds, values }
  }

  private keep(index: number, tensor: Tensor): void {
    const bytes = Array.isArray(tensor.data) ? tensor.data.length * 16 : (tensor.data as Uint8Array).byteLength
    if (this.kept + bytes > MOST_KEPT) return
    this.kept += bytes
    this.values.set(index, tensor)
  }
}

/** Whether NaN or infinities are in a value. */
const isNotFinite = ({ statistics }: Step['values'][number]): boolean =>
  statistics !== undefined && statistics.nans + statistics.infinities > 0

/** Finds the record of a node that ran: nodes of functions are made anew where they are called. */
function recordsOf({ nodes }: Flat): (node: object) => number | undefined {
  const byNode = new Map<object, number>()
  nodes.forEach((node, record) => {
    if (node && !byNode.has(node)) byNode.set(node, record)
  })
  return node => byNode.get(node)
}

/** The inputs that a run needs. */
export function inputFields({ graph }: Model): InputField[] {
  return graph.inputs.flatMap(({ name, value, declared = graph.values.get(value)?.declared }) =>
    graph.initializers.has(value) || declared?.kind !== 'tensor'
      ? []
      : [{ name, type: declared.type ?? '?', dims: declared.dims?.map(dimText).join('×') ?? '…' }]
  )
}

const dimText = (dim: unknown): string => (typeof dim === 'number' || typeof dim === 'string' ? `${dim}` : '?')

/** The inputs of a run, made as it asks for. */
export function feedsFor(model: Model, { inputs, sizes, seed }: RunRequest): Record<string, Value> {
  const shapes = shapesWith(model, sizes)
  const feeds: Record<string, Value> = {}
  const random = randomFrom(seed)
  for (const { name, type } of inputFields(model)) {
    const filling = inputs.get(name) ?? { how: 'zeros' }
    if (filling.how === 'literal') feeds[name] = parseTensor(filling.text, type as Tensor['type'])
    else if (filling.how === 'file') feeds[name] = tensorFrom(filling.name, filling.bytes, name, type as Tensor['type'])
    else {
      const dims = (shapes.get(name) ?? []).map(dim =>
        typeof dim === 'number' ? dim : typeof dim === 'object' && dim !== null ? Math.max(1, dim.min) : 1
      )
      feeds[name] = filled(type as Tensor['type'], dims, filling.how, random)
    }
  }
  return feeds
}

/** Random floats are in [0, 1); random integers are 0 or 1, which are valid as ids and masks nearly everywhere. */
function filled(
  type: Tensor['type'],
  dims: readonly number[],
  how: 'zeros' | 'ones' | 'random',
  random: () => number
): Tensor {
  const count = dims.reduce((product, dim) => product * dim, 1)
  const isFloat = /float|nf4/.test(type)
  const next = how === 'zeros' ? () => 0 : how === 'ones' ? () => 1 : isFloat ? random : () => Math.round(random())
  const numbers = Array.from({ length: count }, next)
  if (type === 'string') return new Tensor('string', numbers.map(String), dims)
  if (/^b?float16$/.test(type))
    return new Tensor(type as 'float16', Uint16Array.from(numbers, type === 'float16' ? half : brain), dims)
  return new Tensor(type, numbers, dims)
}

/** The bits of a number from 0 to 1 as bfloat16: the upper half of float32. */
const brain = (number: number): number => new Uint32Array(Float32Array.of(number).buffer)[0] >>> 16
/** The bits of a number from 0 to 1 as float16, rounded towards zero. */
function half(number: number): number {
  const bits = new Uint32Array(Float32Array.of(number).buffer)[0]
  const exponent = ((bits >>> 23) & 0xff) - 112
  return exponent <= 0 ? 0 : (exponent << 10) | ((bits >>> 13) & 0x3ff)
}

/** Mulberry32: small, and good enough to fill inputs. */
function randomFrom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A tensor from a file: of an archive, the array that has the input's name, or the only one. */
function tensorFrom(file: string, bytes: Uint8Array, input: string, type: Tensor['type']): Tensor {
  if (/\.npz$/i.test(file)) {
    const arrays = readNpz(bytes, { typeOf: () => type })
    return arrays.get(input) ?? [...arrays.values()][0]
  }
  if (/\.pb$/i.test(file)) return readTensorProto(bytes).tensor
  if (/\.json$/i.test(file)) return parseTensor(new TextDecoder().decode(bytes), type)
  return readNpy(bytes, type)
}
