import type { Node } from '../graph/graph.ts'
import type { DType } from '../tensor/dtype.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { inLayoutOf } from './layout.ts'
import { type Closeness, type Distance, measure } from './measure.ts'
import {
  isInMain,
  type Made,
  type Met,
  pairsBy,
  tensorsMade,
  WAITING_BYTES,
  WaitingRoom,
  type Walk
} from './meeting.ts'
import type { Pair } from './pairs.ts'
import type { MadeValue, Side } from './side.ts'
import { inPlaceOf } from './ties.ts'

/** Where the values of `a` come from while `b` runs. */
export interface Supply {
  /**
   * The next value of the pair's `a`; undefined where there is none.
   * @param type that of the counterpart in `b`
   */
  next(pair: Pair, type: DType): Promise<Tensor | undefined>
  /** `b` has run a node of its main graph: what it has not asked for up to there is not needed. */
  passed(node: Node): void
  end(): Promise<void>
}

/**
 * Runs `b` with the values of `a`: each value of `b` that has a counterpart is held against it, and what reads it reads
 * the value of `a`. So what is measured is the error that a node adds (and the nodes without counterparts before it),
 * not what it was fed with.
 * @returns the pairs, the furthest apart first; one for all iterations of a body, the worst
 */
export async function isolate(
  pairs: readonly Pair[],
  { side, walk }: { readonly side: Side; walk(): Walk },
  supply: Supply,
  closeness: Closeness
): Promise<Pick<Met, 'pair' | 'distance'>[]> {
  const twins = pairsBy(pairs, 'b')
  const worst = new Map<Pair, Distance>()
  const run = walk()
  try {
    for (let step = await run.next(); !step.done; step = await run.next()) {
      const event = step.value
      for (const [value, own, at] of tensorsMade(side, event)) {
        const pair = twins.get(value)?.[0]
        const given = pair && (await supply.next(pair, own.type))
        const turned = given && pair?.by !== undefined ? inLayoutOf(own, given) : given
        const fed = turned && inPlaceOf(own, turned)
        if (pair === undefined || turned === undefined || fed === undefined) continue
        const distance = measure(turned, own, closeness)
        if (distance.sqnr <= (worst.get(pair)?.sqnr ?? Infinity)) worst.set(pair, distance)
        event.replace(at, fed)
      }
      if (isInMain(event.node)) supply.passed(event.node)
    }
  } finally {
    await Promise.all([run.return(undefined as never), supply.end()])
  }
  return [...worst]
    .map(([pair, distance]) => ({ pair, distance }))
    .sort((x, y) => (x.distance.sqnr === y.distance.sqnr ? 0 : x.distance.sqnr - y.distance.sqnr))
}

/** The values of a run of `a`, which goes on as far as `b` needs it. */
export class RunSupply implements Supply {
  private readonly a: Side
  private readonly b: Side
  private readonly run: Walk
  private readonly twins: ReadonlyMap<MadeValue, readonly Pair[]>
  private readonly known = new Map<Pair, Tensor>()
  private readonly waiting = new WaitingRoom()
  /** Positions of the nodes of the main graphs that have run. */
  private positionA = -1
  private positionB = -1

  constructor(
    pairs: readonly Pair[],
    a: { readonly side: Side; readonly folded: Iterable<Made>; walk(): Walk },
    b: Side
  ) {
    this.a = a.side
    this.b = b
    this.run = a.walk()
    this.twins = pairsBy(pairs, 'a')
    for (const step of a.folded)
      for (const [value, tensor] of tensorsMade(this.a, step))
        for (const pair of this.twins.get(value) ?? []) this.known.set(pair, tensor)
  }

  async next(pair: Pair): Promise<Tensor | undefined> {
    const known = this.known.get(pair)
    if (known) return known
    for (;;) {
      const waiting = this.waiting.take(pair)
      if (waiting) return waiting.tensor
      if ((this.a.positions.get(pair.a.node) ?? Infinity) <= this.positionA) return undefined
      const step = await this.run.next()
      if (step.done) this.positionA = Infinity
      else this.take(step.value, pair)
    }
  }

  private take(step: Made, wanted: Pair): void {
    for (const [value, tensor] of tensorsMade(this.a, step))
      for (const pair of this.twins.get(value) ?? [])
        if ((this.b.positions.get(pair.b.node) ?? -1) > this.positionB) this.waiting.add(pair, { tensor, time: 0 })
    if (isInMain(step.node)) this.positionA = this.a.positions.get(step.node) ?? this.positionA
    // What there is no room for is not fed: the error of the next node has that of this one in it.
    for (const pair of [...this.waiting.pairs]) {
      if (this.waiting.bytes <= WAITING_BYTES) break
      if (pair !== wanted) this.waiting.remove(pair)
    }
  }

  passed(node: Node): void {
    this.positionB = this.b.positions.get(node) ?? this.positionB
    for (const pair of [...this.waiting.pairs])
      if ((this.b.positions.get(pair.b.node) ?? -1) <= this.positionB) this.waiting.remove(pair)
  }

  async end(): Promise<void> {
    await this.run.return(undefined as never)
  }
}
