import { type BoundGraph, type Call, isCall } from '../bind/call.ts'
import { NodewiseError } from '../errors.ts'
import { type Constant, declaredOf, type Finding, type Node, type ValueId } from '../graph/graph.ts'
import { constantFact, declaredFact } from '../infer/declared.ts'
import { inferCall, noBody } from '../infer/infer.ts'
import { factBody, locate } from '../infer/propagate.ts'
import type { Body } from '../op-kit/define.ts'
import { type Fact, UNKNOWN_TENSOR } from '../shapes/fact.ts'
import { solveAxis } from './axis.ts'
import { agrees, printDeclared } from './compare.ts'
import { Declarations } from './declarations.ts'
import { faultyNodes, faultyValues } from './structure.ts'
import { sameFact, settle, type Worlds } from './worlds.ts'

/** Result of checking a graph. */
export interface GraphCheck {
  readonly bound: BoundGraph
  readonly values: ReadonlyMap<ValueId, Fact>
  /** Remarks on values, for {@link CheckedValue.note}. */
  readonly notes: ReadonlyMap<ValueId, string>
  readonly declarations: Declarations
  readonly findings: readonly Finding[]
  /** Number of values of which nothing is inferred, so that their declaration is taken as true. */
  readonly unverified: number
  readonly bodies: readonly GraphCheck[]
}

/** What is known of a graph from outside. */
export interface Given {
  readonly inputs?: ReadonlyMap<ValueId, Fact>
  readonly captured?: ReadonlyMap<ValueId, Fact>
  /** Number of bodies around the graph, counting the graph itself where it is one. */
  readonly depth?: number
}

/** Deeper bodies are checked in the inferred world only: two worlds at each level would double the work each time. */
const MAX_SPLIT_DEPTH = 2

type World = keyof Worlds

const VALIDATING = { validate: true } as const
/** Shared by calls without bodies; nothing is added to it. */
const NO_BODIES = new Map<BoundGraph, GraphCheck>()

/** Infers the values of a graph in topological order, and compares each with its declarations. */
export function checkGraph(bound: BoundGraph, given: Given): GraphCheck {
  return new Walk(bound, given).result()
}

class Walk {
  private readonly bound: BoundGraph
  private readonly depth: number
  private readonly faulty: ReadonlySet<Node>
  private readonly inferred = new Map<ValueId, Fact>()
  /** The declared world of values where it differs, see {@link Worlds}. */
  private readonly declared = new Map<ValueId, Fact>()
  private readonly declarations: Declarations
  private readonly notes = new Map<ValueId, string>()
  private readonly solved = new Map<ValueId, Fact>()
  private readonly findings: Finding[] = []
  private readonly bodies: GraphCheck[] = []
  private unverified = 0

  constructor(bound: BoundGraph, given: Given) {
    this.bound = bound
    this.depth = given.depth ?? 0
    this.declarations = new Declarations(bound.graph)
    for (const [id, fact] of given.captured ?? []) this.inferred.set(id, fact)
    this.faulty = faultyNodes(bound.graph)
    const faulty = faultyValues(bound.graph, this.faulty)
    for (const [id, constant] of bound.constants) {
      if (faulty.has(id)) this.inferred.set(id, UNKNOWN_TENSOR)
      else this.constant(id, constant)
    }
    for (const port of bound.graph.inputs) {
      const declared = declaredOf(bound.graph, port)
      if (port.mean) this.verify(port.mean)
      this.put(port.value, given.inputs?.get(port.value) ?? declaredFact(declared, bound.graph.path === ''))
    }
    for (const item of bound.items) {
      if (isCall(item)) this.call(item)
      else {
        this.fail(item.error, item.node)
        for (const id of item.node.outputs) this.putDeclared(id)
      }
    }
  }

  result(): GraphCheck {
    const { bound, inferred, solved, notes, declarations, findings, unverified, bodies } = this
    for (const [id, fact] of solved) if (inferred.has(id)) inferred.set(id, fact)
    return { bound, values: inferred, notes, declarations, findings, unverified, bodies }
  }

  private put(id: ValueId, inferred: Fact, declared?: Fact): void {
    this.inferred.set(id, inferred)
    const declarations = this.declarations.of(id)
    // Nearly all values have one world and agree with all declarations.
    if (declared === undefined && declarations.every(declaration => agrees(declaration, inferred))) {
      if (this.declared.size > 0) this.declared.delete(id)
      return
    }
    const { worlds, findings } = settle(
      { inferred, ...(declared && { declared }) },
      declarations,
      this.bound.graph.dialect
    )
    if (worlds.declared) this.declared.set(id, worlds.declared)
    else this.declared.delete(id)
    for (const finding of findings) this.findings.push(finding)
  }

  /** Takes the declaration of a value as its fact, because nothing can be inferred. */
  private putDeclared(id: ValueId | undefined): void {
    if (id === undefined) return
    this.unverified++
    this.put(id, declaredFact(this.bound.graph.values.get(id)?.declared, false))
  }

  private constant(id: ValueId, constant: Constant): void {
    this.verify(constant)
    this.put(id, constantFact(constant))
  }

  private verify(constant: Constant): void {
    try {
      constant.verify?.()
    } catch (error) {
      if (!(error instanceof NodewiseError)) throw error
      // A model can be checked without its weights, so a missing file is no finding.
      if (error.code !== 'missing-file')
        this.findings.push({ code: error.code, severity: 'error', message: error.reason, place: constant.place })
    }
  }

  private call(call: Call): void {
    if (!this.solveAxis(call)) {
      for (const id of call.outputs) if (id !== undefined) this.setUnknown(id)
      return
    }
    const inferred = this.infer(call, 'inferred')
    const isSplit =
      this.declared.size > 0 &&
      this.depth <= MAX_SPLIT_DEPTH &&
      (call.inputs.some(this.hasDeclared) || call.node.captures.some(this.hasDeclared))
    const declared = isSplit ? this.infer(call, 'declared') : undefined
    const chosen = inferred.error && declared && !declared.error ? declared : inferred
    if (chosen.error) {
      this.fail(chosen.error, call.node)
      for (const id of call.outputs) this.putDeclared(id)
      return
    }
    const other = chosen === inferred && !declared?.error ? declared?.facts : undefined
    for (let i = 0; i < call.outputs.length; i++) {
      const id = call.outputs[i]
      if (id === undefined) continue
      const fact = chosen.facts[i] ?? UNKNOWN_TENSOR
      const alternative = other?.[i]
      this.put(id, fact, alternative && !sameFact(fact, alternative) ? alternative : undefined)
    }
    if (call.bodies.size > 0) this.bodies.push(...chosen.bodies.values())
  }

  private infer(
    call: Call,
    world: World
  ): { facts: readonly Fact[]; bodies: ReadonlyMap<BoundGraph, GraphCheck>; error?: NodewiseError } {
    const inputs = call.inputs.map(id => (id === undefined ? undefined : this.factIn(id, world)))
    const bodies = call.bodies.size === 0 ? NO_BODIES : new Map<BoundGraph, GraphCheck>()
    try {
      const facts = inferCall(
        call,
        inputs,
        call.bodies.size === 0 ? noBody : body => this.body(body, world, bodies),
        VALIDATING
      )
      return { facts, bodies }
    } catch (error) {
      return { facts: [], bodies, error: locate(error, call, this.bound) }
    }
  }

  private setUnknown(id: ValueId): void {
    this.inferred.set(id, UNKNOWN_TENSOR)
    this.declared.delete(id)
  }

  private readonly hasDeclared = (id: ValueId | undefined): boolean => id !== undefined && this.declared.has(id)

  private factIn(id: ValueId, world: World): Fact {
    const declared = world === 'declared' ? this.declared.get(id) : undefined
    return declared ?? this.inferred.get(id) ?? UNKNOWN_TENSOR
  }

  private body(bound: BoundGraph, world: World, results: Map<BoundGraph, GraphCheck>): Body {
    return factBody(
      bound,
      this.depth,
      id => this.factIn(id, world),
      given => {
        const result = checkGraph(bound, { ...given, depth: this.depth + 1 })
        results.set(bound, result)
        return result.values
      }
    )
  }

  /**
   * For a call whose axis the file does not give: looks for the axes with which the declared dims are right.
   * @returns false where there is no such axis
   */
  private solveAxis(call: Call): boolean {
    if (call.dataDependent.length === 0) return true
    const answer = solveAxis(call, id => this.factIn(id, 'inferred'), this.declarations)
    if (!answer || answer.axes.length === answer.rank) return true
    const { type, name, place } = call.node
    if (answer.axes.length === 0) {
      this.findings.push({
        code: 'dims-mismatch',
        severity: 'error',
        message: `no axis gives ${this.declaredDims(call)}`,
        place
      })
      return false
    }
    this.notes.set(answer.value, `only axis ${answer.axes.join(' or ')} fits the declared dims of ${type} "${name}"`)
    answer.facts?.forEach((fact, i) => {
      const id = call.outputs[i]
      if (id !== undefined) this.solved.set(id, fact)
    })
    return true
  }

  /** `value "y" its declared dims [2, 3]` */
  private declaredDims({ outputs }: Call): string {
    for (const declaration of outputs.flatMap(id => (id === undefined ? [] : this.declarations.of(id)))) {
      const { declared } = declaration
      if (declared.kind === 'tensor' && declared.dims)
        return `${declaration.where().what} its declared dims [${declared.dims.map(printDeclared).join(', ')}]`
    }
    return 'the declared dims of the output'
  }

  private fail({ code, reason: message, place, details }: NodewiseError, node: Node): void {
    // Such nodes have a finding already; an empty version means that their domain is not imported.
    if (this.faulty.has(node) || (node.dialect === 'onnx' && node.version === '')) return
    if (code !== 'unsupported-op') this.findings.push({ code, severity: 'error', message, place })
    // That an operator exists but is not supported here is no error of the model.
    else if (details.unknown === true) this.findings.push({ code: 'unknown-op', severity: 'error', message, place })
    else this.findings.push({ code, severity: 'note', message, place })
  }
}
