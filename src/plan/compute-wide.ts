import { altered, type Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { inferCall, noBody } from '../infer/infer.ts'
import { isBuiltIn } from '../op-kit/define.ts'
import { type Fact, MAX_PARTIAL, tensorFact } from '../shapes/fact.ts'
import { convert } from '../tensor/convert.ts'
import { type DType, DTYPES, isHalf } from '../tensor/dtype.ts'
import { widenedOf } from './derive.ts'
import { isLargeInFile } from './fused-convert.ts'
import { knownTensor, operandOf, type PlanCall, planCall, type PlanGraph, shapeOf, typeOf } from './graph.ts'
import type { Pass } from './pass.ts'
import { intAttribute, isNamed, operatorOf, standardCall } from './patterns.ts'

const isCast = isNamed('Cast')
const isShaping = isNamed('Reshape', 'Squeeze', 'Unsqueeze', 'Flatten', 'Identity')

/**
 * Calls on float16 and bfloat16 that follow each other compute on float32 and keep it, so that nothing is rounded
 * between them: kernels compute with float32 anyway, and other runtimes do the same on processors. Numbers are
 * converted where they come in, where they go out and around calls that have to see 16 bits. A plan is left as it is
 * where that converts as often as the kernels themselves would.
 */
export const computeWide: Pass = {
  name: 'compute wide',
  requires: ['prune'],
  run(graph) {
    if (graph.isObserved || !graph.calls.some(({ call }) => hasHalves(graph, call))) return false
    if (operatorOf(graph, 'Cast', CAST) === undefined) return false
    const wide = wideCalls(graph)
    const rewriting = new Rewriting(graph, wide)
    const by = rewriting.run()
    if (rewriting.conversions >= conversionsOf(graph, wide)) return false
    rewriting.apply()
    graph.spread(by)
    return true
  }
}

/** Version of the operator Cast. */
const CAST = 13

const isHalfValue = (graph: PlanGraph, id: ValueId | undefined): id is ValueId =>
  id !== undefined && isHalfType(typeOf(graph, id))

const isHalfType = (type: DType | undefined): boolean => type !== undefined && isHalf(type)

/** Whether a call reads or makes 16-bit floats. */
function hasHalves(graph: PlanGraph, { inputs, outputs }: Call): boolean {
  for (const id of inputs) if (isHalfValue(graph, id)) return true
  for (const id of outputs) if (isHalfValue(graph, id)) return true
  return false
}

/** Values of 16-bit floats that a call reads or makes. */
const halvesOf = (graph: PlanGraph, { inputs, outputs }: Call): ValueId[] =>
  [...inputs, ...outputs].filter(id => isHalfValue(graph, id))

/** The calls that can compute on float32 instead. */
function wideCalls(graph: PlanGraph): Set<PlanCall> {
  const calls = graph.calls.filter(({ call }) => hasHalves(graph, call))
  const wide = new Set(calls.filter(({ call }) => !isCast(call) && canBeWide(graph, call)))
  for (const item of calls) {
    const { inputs, outputs } = item.call
    const [from, to] = [inputs[0], outputs[0]!]
    if (!isCast(item.call) || (isHalfValue(graph, from) && isHalfValue(graph, to))) continue
    // A Cast that is there to round stays: what it gives is only converted back, or seen from outside.
    const isMeant = graph.isOutside(to) || ![...graph.readersOf(to)].some(reader => wide.has(reader as PlanCall))
    if (!isHalfValue(graph, to) || !isMeant) wide.add(item)
  }
  return wide
}

/** Whether all that a call reads and makes of 16-bit floats may be float32, and nothing else about it changes. */
function canBeWide(graph: PlanGraph, call: Call): boolean {
  const { op, bodies, inputs, outputs } = call
  if (!isBuiltIn(op) || bodies.size > 0 || op.impure || op.dynamic || op.grows) return false
  // Moving 16 bits from outside, or to there, is less work.
  if (isMoving(call) && halvesOf(graph, call).some(id => graph.isOutside(id))) return false
  try {
    const made = inferCall(
      call,
      inputs.map(id => (id === undefined ? undefined : wideFact(graph, id))),
      noBody
    )
    return outputs.every((id, i) => {
      const fact = made.at(i)
      const type = typeOf(graph, id)
      return id === undefined || (fact?.kind === 'tensor' && fact.type === (isHalfType(type) ? 'float32' : type))
    })
  } catch {
    // No version of the operator takes float32 there.
    return false
  }
}

const isMoving = (call: Call): boolean => call.op.moves !== undefined || isShaping(call)

function wideFact(graph: PlanGraph, id: ValueId): Fact {
  const fact = graph.facts.get(id) ?? tensorFact(undefined, undefined)
  if (fact.kind !== 'tensor' || !isHalfType(fact.type)) return fact
  const value = knownTensor(graph, id, MAX_PARTIAL)
  return tensorFact('float32', fact.shape, value && convert(value, 'float32'))
}

/** How often kernels of these calls convert a tensor while the calls are as they are. */
function conversionsOf(graph: PlanGraph, wide: ReadonlySet<PlanCall>): number {
  let count = 0
  for (const { call } of wide)
    if (!isMoving(call)) count += halvesOf(graph, call).filter(id => graph.constantOf(id) === undefined).length
  return count
}

/** What takes the places of calls. Nothing of the graph changes before {@link apply}. */
class Rewriting {
  /** Calls that convert between types, of those that are put in. */
  conversions = 0
  private readonly graph: PlanGraph
  private readonly wide: ReadonlySet<PlanCall>
  /** By value of 16 bits its name as float32. */
  private readonly names = new Map<ValueId, ValueId>()
  /** The same for large constants where rows of them are looked up, which are converted then (`fused-convert.ts`). */
  private readonly tables = new Map<ValueId, ValueId>()
  private readonly changes: (() => void)[] = []

  constructor(graph: PlanGraph, wide: ReadonlySet<PlanCall>) {
    this.graph = graph
    this.wide = wide
  }

  run(): Map<PlanCall, readonly PlanCall[]> {
    const by = new Map<PlanCall, readonly PlanCall[]>()
    for (const item of this.graph.calls) if (this.wide.has(item)) by.set(item, this.around(item))
    return by
  }

  apply(): void {
    for (const change of this.changes) change()
  }

  /** A call on float32, and the conversions before and after it. */
  private around(item: PlanCall): PlanCall[] {
    const { graph } = this
    const { call } = item
    const before: PlanCall[] = []
    const after: PlanCall[] = []
    const inputs = call.inputs.map(id => (isHalfValue(graph, id) ? this.read(id, call, before) : id))
    const outputs = call.outputs.map(id => (isHalfValue(graph, id) ? this.make(id, call, after) : id))
    const known = isCast(call) && isHalfValue(graph, call.outputs[0]) ? { ...call.known, to: 'float32' } : call.known
    return [...before, { ...item, call: altered(call, { inputs, outputs, known }) }, ...after]
  }

  /** The name of a value as float32, which is converted where it is first read. */
  private read(id: ValueId, reader: Call, before: PlanCall[]): ValueId {
    const constant = this.graph.constantOf(id)
    const isTable = tableOf(reader) === id && isLargeInFile(constant)
    const known = (isTable ? this.tables : this.names).get(id)
    if (known !== undefined) return known
    const name = isTable ? `${id}\0rows` : `${id}\0wide`
    if (isTable) this.tables.set(id, name)
    else this.names.set(id, name)
    if (constant && !isTable) {
      const value = knownTensor(this.graph, id, MAX_PARTIAL) ?? constant
      this.changes.push(() => {
        this.graph.addConstant(name, widenedOf(value))
        this.graph.narrow.set(name, value.type)
      })
    } else before.push(this.converting(reader, id, name, 'float32'))
    return name
  }

  /** The name of a result as float32; whoever needs it as it was gets it converted. */
  private make(id: ValueId, maker: Call, after: PlanCall[]): ValueId {
    const { graph, wide } = this
    if (!graph.isOutside(id) && [...graph.readersOf(id)].every(reader => wide.has(reader as PlanCall))) {
      this.names.set(id, id)
      this.changes.push(() => graph.describe(id, tensorFact('float32', shapeOf(graph, id))))
      return id
    }
    const name = `${id}\0wide`
    this.names.set(id, name)
    this.changes.push(() => graph.describe(name, tensorFact('float32', shapeOf(graph, id))))
    after.push(this.converting(maker, name, id, typeOf(graph, id)!))
    return name
  }

  private converting(beside: Call, from: ValueId, to: ValueId, type: DType): PlanCall {
    this.conversions++
    const shape = shapeOf(this.graph, from) ?? shapeOf(this.graph, to)
    this.changes.push(() => this.graph.describe(to, tensorFact(type, shape)))
    const node = { type: 'Cast', opset: CAST, inputs: [from], attributes: { to: intAttribute(DTYPES[type].onnx!) } }
    return planCall(altered(standardCall(this.graph, beside, node)!, { outputs: [to] }))
  }
}

const tableOf = (call: Call): ValueId | undefined => operandOf(call, call.op.rows?.table)
