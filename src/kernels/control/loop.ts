import { fail } from '../../errors.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { type Fact, factOf, tensorFact } from '../../shapes/fact.ts'
import { type DType, DTYPES, type Storage } from '../../tensor/dtype.ts'
import { MAX_SLAB_ARRAY, Slab } from '../../tensor/slab.ts'
import { allocate, isTensor, MAX_ITEMS, product, Tensor, type Value } from '../../tensor/tensor.ts'
import { copyStrided } from '../core/copy-strided.ts'
import { failEmpty, joinTensors } from '../core/join.ts'
import type { Paced } from '../core/pace.ts'
import { type LoopInput, type LoopOutput, type LoopPorts, partDims, type Slice } from './loop-ports.ts'

/** The body of a loop. */
export interface LoopBody {
  infer(inputs: readonly (Fact | undefined)[]): readonly Fact[]
  start(inputs: readonly (Value | undefined)[], passedOn?: readonly boolean[]): Value[] | Paced<Value[]>
  release(outputs: readonly Value[]): void
}

/** When a loop ends. */
export interface LoopControl {
  /** Maximum number of iterations; may be infinite. */
  readonly trip: number
  /** Whether the first iteration runs. */
  readonly condition: boolean
}

/** Receives the outputs. */
export interface LoopSink {
  wanted(index: number): boolean
  output(index: number, dims: readonly number[], type: DType): Tensor
  give(index: number, value: Value): void
}

/**
 * Runs a body repeatedly, for ONNX Loop and Scan and OpenVINO Loop and TensorIterator. Memory grows with the values
 * that the iterations make, not with the trip count. The body yields.
 * @throws NodewiseError `type-mismatch` when a carried value changes its type; `dims-mismatch`, `rank-mismatch` when
 *   values that are put together differ; `shape-mismatch` when an input has no part for an iteration;
 *   `type-not-allowed`, `dims-mismatch` for a condition that is no single boolean; `limit-exceeded` for too many parts;
 *   errors of the body
 */
export function* runLoop(
  ports: LoopPorts,
  body: LoopBody,
  operands: readonly Value[],
  { trip, condition }: LoopControl,
  sink: LoopSink
): Paced {
  const collected = ports.outputs.flatMap((port, index): Collected[] =>
    port.kind === 'concatenated' && sink.wanted(index) ? [{ index, port, parts: [] }] : []
  )
  const untilTheEnd = new Set(collected.map(({ port }) => port.from))
  const passedOn = ports.inputs.map(port => port.kind === 'carried' && !untilTheEnd.has(port.from))
  let last: Value[] | undefined
  let goesOn = condition
  for (let i = 0; i < trip && goesOn; i++) {
    const inputs = new Array<Value | undefined>(ports.inputs.length)
    for (let k = 0; k < inputs.length; k++) {
      const port = ports.inputs[k]
      inputs[k] =
        port.kind === 'sliced'
          ? yield* sliceOf(tensorIn(operands[port.operand]), i, port.slice)
          : inputOf(port, i, operands, last, condition)
    }
    const begun = body.start(inputs, last && passedOn)
    const results = 'next' in begun ? yield* begun : begun
    checkCarried(ports, operands, last, results)
    for (const { port, parts } of collected) {
      if (parts.length === MAX_ITEMS) fail('limit-exceeded', `the loop puts more than ${MAX_ITEMS} parts together`)
      parts.push(tensorIn(results[port.from]))
    }
    if (ports.condition !== undefined) goesOn = isTrue(results[ports.condition])
    if (last) body.release(untilTheEnd.size === 0 ? last : last.filter((_, k) => !untilTheEnd.has(k)))
    last = results
  }
  if (last === undefined) giveWithout(ports, body, operands, sink)
  else yield* giveResults(ports, body, last, collected, sink)
}

function inputOf(
  port: Exclude<LoopInput, { kind: 'sliced' }>,
  iteration: number,
  operands: readonly Value[],
  last: readonly Value[] | undefined,
  condition: boolean
): Value | undefined {
  switch (port.kind) {
    case 'invariant':
      return operands[port.operand]
    case 'carried':
      return last ? last[port.from] : operands[port.operand]
    case 'iteration':
      return port.type === 'int64'
        ? new Tensor('int64', int64Of(iteration), port.dims)
        : new Tensor(port.type, [iteration], port.dims)
    case 'condition':
      return last ? last[port.from] : new Tensor('bool', Uint8Array.of(condition ? 1 : 0), port.dims)
    case 'unfed':
      return undefined
  }
}

function int64Of(value: number): BigInt64Array {
  const data = slab.take(BigInt64Array, 1) as BigInt64Array
  data[0] = BigInt(value)
  return data
}

const slab = new Slab()

/** A copy of some elements. */
function partOf(data: Storage, start: number, end: number): Storage {
  if (Array.isArray(data) || (end - start) * data.BYTES_PER_ELEMENT > MAX_SLAB_ARRAY) return data.slice(start, end)
  return slab.copy(data.subarray(start, end))
}

/** Elements of a part that lies in one piece which are copied at once. */
const MAX_BLOCK = 1 << 16

function* sliceOf(tensor: Tensor, iteration: number, slice: Slice): Generator<void, Tensor> {
  const { dims } = tensor
  const { part } = slice
  const axis = normalizeAxis(slice.axis, dims.length)
  const first = slice.backward ? dims[axis] - (iteration + 1) * part : iteration * part
  if (first < 0 || first + part > dims[axis]) {
    const range = part === 1 ? `${first}` : `${first} to ${first + part - 1}`
    fail('shape-mismatch', `iteration ${iteration} reads ${range} on axis ${axis}, which has size ${dims[axis]}`)
  }
  const outer = product(dims, 0, axis)
  const inner = product(dims, axis + 1)
  const block = part * inner
  const { slots } = DTYPES[tensor.type]
  if (outer === 1 && block <= MAX_BLOCK) {
    const start = first * inner * slots
    return new Tensor(tensor.type, partOf(tensor.data, start, start + block * slots), partDims(dims, slice))
  }
  const out = allocate(tensor.type, partDims(dims, slice))
  yield* copyStrided(
    tensor,
    out,
    [
      { count: outer, from: dims[axis] * inner, to: block },
      { count: block, from: 1, to: 1 }
    ],
    first * inner
  )
  return out
}

/** A carried value may change its dims but not its type. */
function checkCarried(
  { inputs }: LoopPorts,
  operands: readonly Value[],
  last: readonly Value[] | undefined,
  results: readonly Value[]
): void {
  for (const port of inputs) {
    if (port.kind !== 'carried') continue
    const before = last ? last[port.from] : operands[port.operand]
    const after = results[port.from]
    // An optional may become its element (ONNX Loop-16).
    if (before.type !== after.type && before.type !== 'optional' && after.type !== 'optional') {
      fail('type-mismatch', `loop-carried value ${port.operand} has type ${before.type}; the body gives ${after.type}`)
    }
  }
}

function isTrue(value: Value): boolean {
  if (!isTensor(value) || value.type !== 'bool') {
    return fail('type-not-allowed', `the body's condition has type ${value.type}; bool is expected`)
  }
  if (value.data.length !== 1)
    fail('dims-mismatch', `the body's condition has ${value.data.length} elements; expected one`)
  return value.data[0] !== 0
}

const tensorIn = (value: Value): Tensor =>
  isTensor(value)
    ? value
    : fail('type-mismatch', `a ${value.type} has no parts and cannot be put together; a tensor is expected`)

interface Collected {
  readonly index: number
  readonly port: LoopOutput & { kind: 'concatenated' }
  readonly parts: Tensor[]
}

function* giveResults(
  ports: LoopPorts,
  body: LoopBody,
  last: readonly Value[],
  collected: readonly Collected[],
  sink: LoopSink
): Generator<void> {
  for (const [i, port] of ports.outputs.entries()) if (port.kind === 'last') sink.give(i, last[port.from])
  for (const { index, port, parts } of collected) {
    const ordered = port.reversed ? parts.toReversed() : parts
    yield* joinTensors(ordered, port.axis, port.stacks, 'iteration', (dims, type) => sink.output(index, dims, type))
    body.release(parts)
  }
}

/** Gives the outputs of a loop without iterations: initial values, and empty tensors for concatenated outputs. */
function giveWithout(ports: LoopPorts, body: LoopBody, operands: readonly Value[], sink: LoopSink): void {
  let facts: readonly Fact[] | undefined
  for (const [i, port] of ports.outputs.entries()) {
    if (port.kind === 'last' && port.initial !== undefined) sink.give(i, operands[port.initial])
    else if (sink.wanted(i)) {
      if (port.kind === 'concatenated' && port.isNeverEmpty) failEmpty()
      facts ??= body.infer(ports.inputs.map(input => firstFact(input, operands)))
      const fact = facts[port.from]
      if (fact.kind !== 'tensor' || fact.type === undefined) {
        fail('type-mismatch', 'the type of an output of a loop without iterations is not known')
      }
      sink.output(
        i,
        emptyDims(
          (fact.shape ?? []).map(dim => (typeof dim === 'number' ? dim : 0)),
          port
        ),
        fact.type
      )
    }
  }
}

function emptyDims(dims: readonly number[], port: LoopOutput): number[] {
  if (port.kind === 'concatenated' && port.stacks)
    return dims.toSpliced(normalizeAxis(port.axis, dims.length + 1), 0, 0)
  return dims.length === 0 ? [0] : dims.with(port.kind === 'last' ? 0 : normalizeAxis(port.axis, dims.length), 0)
}

/** The fact of a body input in the first iteration. */
function firstFact(port: LoopInput, operands: readonly Value[]): Fact | undefined {
  switch (port.kind) {
    case 'invariant':
    case 'carried':
      return factOf(operands[port.operand])
    case 'sliced': {
      const { type, dims } = tensorIn(operands[port.operand])
      return tensorFact(type, partDims(dims, port.slice))
    }
    case 'iteration':
      return tensorFact(port.type, port.dims)
    case 'condition':
      return tensorFact('bool', port.dims)
    case 'unfed':
      return undefined
  }
}
