import { InferenceSession, isTensor, type Model, NodewiseError, type StepEvent, Tensor, type Value } from 'nodewise'
import { KIND, nameOf } from '../graph/columns.ts'
import { type Change, changed } from './changing.ts'
import type { Sizes } from './facts.ts'
import type { Flat } from './flatten.ts'
import { feedsFor, type Filling } from './inputs.ts'
import { isNotFinite, numbersOf, type Statistics, statisticsOf } from './numbers.ts'
import { portsOf } from './ports.ts'

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

/** What a value of a run is like. */
export interface ShownValue {
  readonly type: string
  readonly dims: readonly number[]
  readonly statistics?: Statistics
}

/** A node that has run: what each value that it made is like. */
export interface Step {
  readonly record: number
  readonly milliseconds: number
  readonly values: readonly (ShownValue & { readonly value: number })[]
}

/** A run that has come to its end. */
export interface Outcome {
  readonly milliseconds: number
  readonly steps: number
  /** By the names of the model's outputs, as its caller gets them: of the types that the model promises. */
  readonly outputs: ReadonlyMap<string, ShownValue>
}

/** Bytes of values that are kept to be looked at; of later ones the statistics remain. */
const MAX_KEPT = 512 << 20
/** Milliseconds between two reports to the page. */
const REPORT = 60

/** Takes what happens while a model runs: `steps`, `paused`, `changed` and `resumed`. */
export type Tell = (event: string, value: unknown) => void

/** A run under way, and what is left of it afterwards. */
export class Running {
  readonly values = new Map<number, Value>()
  private readonly abort = new AbortController()
  private readonly model: Model
  private readonly flat: Flat
  private readonly request: RunRequest
  private readonly tell: Tell
  private readonly recordOf: (node: object) => number | undefined
  private kept = 0
  /** The node after which the run waits. */
  private event: StepEvent | undefined
  private resume: ((how: 'step' | 'run') => void) | undefined

  constructor(model: Model, flat: Flat, request: RunRequest, tell: Tell) {
    this.model = model
    this.flat = flat
    this.request = request
    this.tell = tell
    this.recordOf = recordsOf(flat)
  }

  stop(): void {
    this.abort.abort()
    this.resume?.('run')
  }

  go(how: 'step' | 'run'): void {
    this.resume?.(how)
  }

  /**
   * Puts another value in the place of one that the node made after which the run waits.
   * @throws NodewiseError `bad-usage` where no run waits after the node that made it, and as {@link changed}
   */
  change(value: number, change: Change): void {
    const { event } = this
    const record = this.flat.columns.maker[value] ?? -1
    const output = record < 0 ? -1 : portsOf(this.flat.outputs, record).indexOf(value)
    const made = event?.outputs[output]
    if (!event || this.recordOf(event.node) !== record || !made || !isTensor(made))
      throw new NodewiseError('bad-usage', 'a value is changed while the run waits after the node that made it')
    const other = changed((this.values.get(value) as Tensor | undefined) ?? made, change)
    event.replace(output, other)
    const outputs = event.outputs.map((each, i) => (i === output ? other : each))
    this.tell('changed', this.stepOf(record, outputs, event.milliseconds))
  }

  async run(): Promise<Outcome> {
    const { model, request } = this
    const feeds = await feedsFor(model, request)
    const session = new InferenceSession(model, { seed: request.seed })
    const started = performance.now()
    let waited = 0
    let isStepping = request.stepwise
    let watches = request.stopsAtNan
    let batch: Step[] = []
    let count = 0
    let reported = started
    const report = (): void => {
      if (batch.length > 0) this.tell('steps', batch)
      batch = []
      reported = performance.now()
    }
    this.keepInputs(feeds)
    this.keepFolded(session)
    const stops = new Set(request.breakpoints)
    const walk = session.walk(feeds, { signal: this.abort.signal })
    try {
      for (;;) {
        const next = await walk.next()
        if (next.done) {
          const outputs = new Map(Object.entries(next.value).map(([name, value]) => [name, shownValue(value)]))
          return { milliseconds: performance.now() - started - waited, steps: count, outputs }
        }
        const { node, outputs, milliseconds } = next.value
        const record = this.recordOf(node) ?? -1
        const step = this.stepOf(record, outputs, milliseconds)
        batch.push(step)
        count++
        if (performance.now() - reported > REPORT) report()
        const isBad = watches && step.values.some(isNotFinite)
        if (!isStepping && !isBad && !stops.has(record)) continue
        report()
        const before = performance.now()
        this.event = next.value
        isStepping = (await this.wait(record)) === 'step'
        this.event = undefined
        waited += performance.now() - before
        // What follows has NaN of this one.
        if (isBad) watches = false
      }
    } finally {
      report()
      await walk.return({})
      session.dispose()
    }
  }

  private async wait(record: number): Promise<'step' | 'run'> {
    this.tell('paused', record)
    const how = await new Promise<'step' | 'run'>(resolve => {
      this.resume = resolve
    })
    this.resume = undefined
    this.tell('resumed', record)
    return how
  }

  private keepInputs(feeds: Readonly<Record<string, Value>>): void {
    const { columns, outputs } = this.flat
    const steps: Step[] = []
    columns.kind.forEach((kind, record) => {
      // An input of a body may be called as one of the model is.
      const isInput = kind === KIND.input && columns.graph[record] === 0
      const value = isInput ? feeds[nameOf(columns, record)] : undefined
      if (value)
        steps.push(
          this.stepOf(
            record,
            portsOf(outputs, record).map(() => value),
            0
          )
        )
    })
    this.tell('steps', steps)
  }

  /** What is known before a run is not computed in it: steps of their own tell the values. */
  private keepFolded(session: InferenceSession): void {
    const { facts } = session.propagation()
    const { columns, nodes, values: own, outputs } = this.flat
    const steps: Step[] = []
    nodes.forEach((node, record) => {
      if (!node || columns.kind[record] !== KIND.node || columns.graph[record] !== 0) return
      const values = portsOf(outputs, record).map(value => {
        const fact = value === undefined ? undefined : facts.get(own.ids[value])
        return fact?.kind === 'tensor' && fact.value instanceof Tensor ? fact.value : undefined
      })
      if (values.some(value => value !== undefined)) steps.push(this.stepOf(record, values, 0))
    })
    this.tell('steps', steps)
  }

  private stepOf(record: number, outputs: readonly (Value | undefined)[], milliseconds: number): Step {
    const indices = record < 0 ? [] : portsOf(this.flat.outputs, record)
    const values = indices.flatMap((value, i): Step['values'] => {
      const made = outputs[i]
      if (value === undefined || made === undefined) return []
      if (isTensor(made)) this.keep(value, made)
      return [{ value, ...shownValue(made) }]
    })
    return { record, milliseconds, values }
  }

  private keep(index: number, tensor: Tensor): void {
    if (this.values.has(index)) {
      this.values.set(index, tensor)
      return
    }
    const bytes = Array.isArray(tensor.data) ? tensor.data.length * 16 : (tensor.data as Uint8Array).byteLength
    if (this.kept + bytes > MAX_KEPT) return
    this.kept += bytes
    this.values.set(index, tensor)
  }
}

function shownValue(value: Value): ShownValue {
  if (!isTensor(value)) return { type: value.type, dims: [] }
  const numbers = numbersOf(value)
  return { type: value.type, dims: value.dims, ...(numbers && { statistics: statisticsOf(numbers) }) }
}

/** Finds the record of a node that ran: nodes of functions are made anew where they are called. */
function recordsOf({ nodes }: Flat): (node: object) => number | undefined {
  const byNode = new Map<object, number>()
  nodes.forEach((node, record) => {
    if (node && !byNode.has(node)) byNode.set(node, record)
  })
  return node => byNode.get(node)
}
