import { fail } from '../errors.ts'
import { inferLoop } from '../kernels/control/loop-facts.ts'
import type { LoopPorts } from '../kernels/control/loop-ports.ts'
import { type LoopSink, runLoop } from '../kernels/control/loop.ts'
import { copyStrided } from '../kernels/core/copy-strided.ts'
import { joinTensors } from '../kernels/core/join.ts'
import type { Paced } from '../kernels/core/pace.ts'
import { type Dim, maxDim, meetDims, printDim, unknownDim } from '../shapes/dim.ts'
import { type Fact, factOf, type TensorFact, tensorFact } from '../shapes/fact.ts'
import { DTYPES } from '../tensor/dtype.ts'
import { allocate, elementCount, isTensor, Tensor, type Value } from '../tensor/tensor.ts'
import type { Body, KernelContext } from './define.ts'

/** Facts of Scan-8: those of the loop with a batch dim in front; the number of iterations is the longest sequence. */
export function inferBatches(
  ports: LoopPorts,
  body: Body,
  lengths: TensorFact | undefined,
  operands: readonly Fact[]
): Fact[] {
  const shapes = operands.map((operand, i) =>
    operand.kind === 'tensor' ? checkRank(operand.shape, i, ports) : undefined
  )
  const batch = common(
    shapes.map(shape => shape?.[0]),
    'batch'
  )
  const longest = common(
    shapes.map((shape, i) => (ports.inputs[i].kind === 'sliced' ? shape?.[1] : undefined)),
    'sequence'
  )
  if (lengths?.shape && (lengths.shape.length !== 1 || meetDims(lengths.shape[0], batch) === undefined)) {
    fail(
      'shape-mismatch',
      `sequence_lens has shape [${lengths.shape.map(printDim).join(', ')}]; expected [${printDim(batch)}]`
    )
  }
  const each = operands.map((operand, i): Fact =>
    operand.kind === 'tensor' ? tensorFact(operand.type, shapes[i]?.slice(1)) : operand
  )
  const facts = inferLoop(ports, body, each, {
    trip: lengths ? unknownDim(0, maxDim(longest)) : longest,
    condition: true
  })
  return facts.map((fact, i) => {
    if (fact.kind !== 'tensor' || fact.shape === undefined) return fact
    return tensorFact(
      fact.type,
      ports.outputs[i].kind === 'last' ? [batch, ...fact.shape] : [batch, longest, ...fact.shape.slice(1)]
    )
  })
}

function checkRank(shape: readonly Dim[] | undefined, i: number, { inputs }: LoopPorts): readonly Dim[] | undefined {
  const minRank = inputs[i].kind === 'sliced' ? 2 : 1
  if (shape && shape.length < minRank) {
    fail(
      'rank-mismatch',
      `operand ${i} has rank ${shape.length}; ` +
        `with batch${minRank === 2 ? ' and sequence' : ''} it has at least ${minRank}`
    )
  }
  return shape
}

/** The merged size of dims that must be equal. */
function common(dims: readonly (Dim | undefined)[], what: string): Dim {
  let result: Dim | undefined
  for (const dim of dims) {
    if (dim === undefined) continue
    result =
      result === undefined
        ? dim
        : (meetDims(result, dim) ??
          fail('shape-mismatch', `${what} sizes ${printDim(result)} and ${printDim(dim)} differ`))
  }
  return result ?? unknownDim()
}

/** Runs the loop for one batch after the other. */
export function* runBatches(
  ports: LoopPorts,
  body: Body,
  lengths: Tensor | undefined,
  operands: readonly Value[],
  call: KernelContext
): Paced {
  const facts = inferBatches(ports, body, lengths && { kind: 'tensor', shape: lengths.dims }, operands.map(factOf))
  const tensors = operands.map(operand =>
    isTensor(operand) ? operand : fail('type-mismatch', `a ${operand.type} is given; Scan-8 takes tensors`)
  )
  const [batches, longest] = tensors[tensors.length - 1].dims
  const results: Tensor[][] = ports.outputs.map(() => [])
  for (let batch = 0; batch < batches; batch++) {
    const length = lengths ? lengthOf(lengths, batch, longest) : longest
    const each = tensors.map((tensor, i) =>
      blockOf(tensor, batch, ports.inputs[i].kind === 'sliced' ? length : undefined)
    )
    yield* runLoop(ports, body, each, { trip: length, condition: true }, sinkFor(results, batch, call))
  }
  for (const [i, port] of ports.outputs.entries()) {
    if (!call.wanted(i)) continue
    if (batches === 0) outputLike(facts[i], i, call)
    else if (port.kind === 'last')
      yield* joinTensors(results[i], 0, true, 'batch', (dims, type) => call.output(i, dims, type))
    else yield* padTogether(results[i], longest, (dims, type) => call.output(i, dims, type))
  }
}

function lengthOf(lengths: Tensor, batch: number, longest: number): number {
  const length = Number(lengths.data[batch])
  if (length < 0 || length > longest)
    fail('value-out-of-range', `sequence_lens holds ${length} for batch ${batch}; expected 0..${longest}`)
  return length
}

/** One batch of a tensor, cut to `length` along the sequence. */
function blockOf(tensor: Tensor, batch: number, length: number | undefined): Tensor {
  const [, ...rest] = tensor.dims
  const dims = length === undefined ? rest : rest.with(0, length)
  const at = batch * elementCount(rest)
  const { slots } = DTYPES[tensor.type]
  return new Tensor(tensor.type, tensor.data.slice(at * slots, (at + elementCount(dims)) * slots), dims)
}

const sinkFor = (results: Tensor[][], batch: number, call: KernelContext): LoopSink => ({
  wanted: index => call.wanted(index),
  output: (index, dims, type) => (results[index][batch] = allocate(type, dims)),
  give(index, value) {
    results[index][batch] = value as Tensor
  }
})

function outputLike(fact: Fact, index: number, call: KernelContext): void {
  if (fact.kind !== 'tensor' || fact.type === undefined) {
    fail('type-mismatch', 'the type of an output of a loop without iterations is not known')
  }
  call.output(
    index,
    (fact.shape ?? [0]).map(dim => (typeof dim === 'number' ? dim : 0)),
    fact.type
  )
}

/** Stacks the sequences of all batches, each padded with zeros to the longest. */
function* padTogether(
  parts: readonly Tensor[],
  longest: number,
  allocateOutput: (dims: readonly number[], type: Tensor['type']) => Tensor
): Generator<void> {
  const sample = parts.find(part => part.dims[0] > 0) ?? parts[0]
  const rest = sample.dims.slice(1)
  const out = allocateOutput([parts.length, longest, ...rest], sample.type)
  const inner = elementCount(rest)
  for (const [batch, part] of parts.entries()) {
    if (part.dims[0] === 0) continue
    if (part.dims.length !== sample.dims.length || part.dims.slice(1).some((dim, i) => dim !== rest[i])) {
      fail('dims-mismatch', `batches give elements of dims [${rest.join(', ')}] and [${part.dims.slice(1).join(', ')}]`)
    }
    yield* copyStrided(part, out, [{ count: part.dims[0] * inner, from: 1, to: 1 }], 0, batch * longest * inner)
  }
}
