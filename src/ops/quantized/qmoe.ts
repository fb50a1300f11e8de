import { fail } from '../../errors.ts'
import { convertPaced } from '../../kernels/core/convert-paced.ts'
import { readNumbers } from '../../kernels/core/numbers.ts'
import { codedLayer, type ExpertLayer, mixExperts } from '../../kernels/matrix/experts.ts'
import { floatRows } from '../../kernels/quantized/coded-rows.ts'
import {
  blockRows,
  codeBytes,
  type CodedRows,
  codePerBlock,
  middleOf,
  numberPerBlock,
  type PerBlock
} from '../../kernels/quantized/packed.ts'
import { checkCodeWidth } from '../../op-kit/coded.ts'
import { params } from '../../op-kit/define.ts'
import { checkExperts, expertBind, type ExpertFacts, gatingOf } from '../../op-kit/experts.ts'
import {
  expertBlocks,
  type QuantizedExpertParams,
  type QuantizedLayer,
  quantizedLayersOf,
  quantizedRoutingOf
} from '../../op-kit/quantized-experts.ts'
import { checkForms, checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, derive, int } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { addDims, type Dim, floorDivDims, mulDims } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'

const operands = {
  x: 'tensor',
  scores: 'tensor',
  first: 'tensor',
  firstScales: 'optional',
  firstBias: 'optional',
  second: 'tensor',
  secondScales: 'optional',
  secondBias: 'optional',
  third: 'optional',
  thirdScales: 'optional',
  thirdBias: 'optional',
  firstZeros: 'optional',
  secondZeros: 'optional',
  thirdZeros: 'optional',
  weights: 'optional',
  firstGlobal: 'optional',
  secondGlobal: 'optional',
  firstActivations: 'optional',
  secondActivations: 'optional',
  firstActivationBlocks: 'optional',
  secondActivationBlocks: 'optional'
} as const

const BITS = ['fc1', 'fc2', 'fc3'].map(name => int(`${name}_expert_weight_bits`))

/** Rules of {@link qmoe}. */
export const qmoeRules = defineRules({
  name: 'QMoE',
  operands,
  params: params<QuantizedExpertParams>(),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      bind: {
        ...expertBind,
        blockSize: int('block_size', 0),
        bits: derive(node => BITS.map(own => node.get(own) ?? node.get(int('expert_weight_bits')) ?? 4)),
        prepacked: int('weights_prepacked'),
        codes: choice('quant_type', { int: 'int', fp8: 'fp8' })
      }
    }
  ],

  shape(facts, p) {
    const { x, scores, weights } = facts
    if (p.prepacked > 0)
      fail('unknown-attribute-value', `weights_prepacked is ${p.prepacked}: the order of a device; expected 0 or -1`)
    const layers = quantizedLayersOf(facts)
    const activations = [
      facts.firstActivations,
      facts.secondActivations,
      facts.firstActivationBlocks,
      facts.secondActivationBlocks
    ]
    if (activations.some(fact => fact !== undefined))
      fail('wrong-input-count', `scales of activations are given; ${p.codes} has none`)
    const [first, second, third] = layers.map((layer, i) => layer && checkLayer(layer, p.bits[i], p))
    checkExperts(x, { router_probs: scores, router_weights: weights }, [first!, second!, third], p)
    const biases = Object.fromEntries(layers.map((layer, i) => [`bias of fc${i + 1}`, layer?.bias]))
    return [tensorFact(commonType({ input: x, router_probs: scores, router_weights: weights, ...biases }), x.shape)]
  }
})

/**
 * MoE (`../matrix/moe.ts`) with weights in packed codes of 2, 4 or 8 bits, `(code - zero point) * scale`, a scale and a
 * zero point for each row of an expert or for each block of a row; without zero points it is the middle of the codes.
 * With `quant_type` fp8 weights are float8e4m3fn, scaled by a number for each expert. The weights of the chosen experts
 * are always the softmax of their scores, as in ONNX Runtime, unless `router_weights` gives them. QMoE-1 of
 * com.microsoft, but for what has weights in the order of a GPU: 4-bit floats, and `weights_prepacked`.
 */
export const qmoe = /* @__PURE__ */ withKernel(qmoeRules, {
  *run(values, p, call) {
    const { x, scores, weights } = values
    const sums = allocate('float64', x.dims)
    const layers: (ExpertLayer | undefined)[] = []
    for (const [i, layer] of quantizedLayersOf(values).entries())
      layers.push(layer && (yield* layerOf(layer, p.bits[i], p)))
    const [first, second, third] = layers
    const experts = { first: first!, second: second!, third, gating: gatingOf(p, third !== undefined) }
    const routing = yield* quantizedRoutingOf(scores, weights, values.first.dims[0], p)
    yield* mixExperts(yield* readNumbers(x), experts, routing, sums.data)
    yield* convertPaced(sums, call.rawOutput())
  }
})

/** Checks what a layer's weights are scaled by; the layer unpacked. */
function checkLayer(
  { name, weights, scales, bias, zeros, global }: QuantizedLayer<TensorFact>,
  bits: number,
  p: QuantizedExpertParams
): ExpertFacts {
  checkRank(`the weights of ${name}`, weights, 3)
  const expected = p.codes === 'int' ? 'uint8' : 'float8e4m3fn'
  if (weights.type !== undefined && weights.type !== expected)
    fail('type-mismatch', `the weights of ${name} have type ${weights.type}; quant_type ${p.codes} has ${expected}`)
  const wrong = p.codes === 'int' ? global : (scales ?? zeros)
  if (wrong)
    fail(
      'wrong-input-count',
      `${name} has ${p.codes === 'int' ? 'a global scale' : 'scales of blocks'}; quant_type ${p.codes} has none`
    )
  if (p.codes === 'fp8') {
    if (global) checkForms(`the global scale of ${name}`, global, [weights.shape?.[0] ?? 0])
    return { weights: weights.shape, bias }
  }
  if (scales === undefined) fail('missing-input', `the scales of ${name} are not given`)
  checkCodeWidth(`the bits of ${name}`, bits)
  if (p.blockSize < 0 && p.blockSize !== -1)
    fail('value-out-of-range', `block_size is ${p.blockSize}; expected 0 or more`)
  if (weights.shape === undefined) return { weights: undefined, bias }
  const [experts, rows, bytes] = weights.shape
  const columns = mulDims(bytes, 8 / bits)
  const blocks = expertBlocks(columns, p)
  checkForms(`the scales of ${name}`, scales, [experts, rows], [experts, rows, blocks])
  const packed = (count: Dim): Dim => floorDivDims(addDims(mulDims(count, bits), 7), 8)
  if (zeros && scales.shape)
    checkForms(
      `the zero points of ${name}`,
      zeros,
      scales.shape.length === 2 ? [experts, packed(rows)] : [experts, rows, packed(blocks)]
    )
  return { weights: [experts, rows, columns], bias }
}

function* layerOf(layer: QuantizedLayer<Tensor>, bits: number, p: QuantizedExpertParams): Generator<void, ExpertLayer> {
  const { weights, bias } = layer
  const [, rows, width] = weights.dims
  const columns = p.codes === 'int' ? (width * 8) / bits : width
  const weightsOf = p.codes === 'int' ? yield* codesOf(layer, bits, columns, p) : yield* floatsOf(layer)
  return codedLayer(weightsOf, rows, columns, bias && (yield* readNumbers(bias)))
}

type WeightsOf = (expert: number) => CodedRows

function* floatsOf({ weights, global }: QuantizedLayer<Tensor>): Generator<void, WeightsOf> {
  const [, rows, columns] = weights.dims
  const factors = global && (yield* readNumbers(global))
  const codes = weights.data as Uint8Array
  return expert => floatRows('float8e4m3fn', codes, expert * rows * columns, rows, columns, factors?.[expert])
}

function* codesOf(
  { weights, scales, zeros }: QuantizedLayer<Tensor>,
  bits: number,
  columns: number,
  p: QuantizedExpertParams
): Generator<void, WeightsOf> {
  const [, rows, rowBytes] = weights.dims
  const isByBlock = scales!.dims.length === 3
  const blocks = isByBlock ? (expertBlocks(columns, p) as number) : 1
  const factors = yield* readNumbers(scales!)
  const zerosOf = (expert: number): PerBlock => {
    if (zeros === undefined) return middleOf(bits)
    const codes = zeros.data as Uint8Array
    if (isByBlock) return codePerBlock(codes, expert * rows * codeBytes(blocks, bits), blocks, bits)
    const ofRow = codePerBlock(codes, expert * codeBytes(rows, bits), rows, bits)
    return row => ofRow(0, row)
  }
  return expert =>
    blockRows({
      rows,
      columns,
      codes: weights.data as Uint8Array,
      bits,
      start: expert * rows * rowBytes,
      rowBytes,
      blockSize: isByBlock && p.blockSize > 0 ? p.blockSize : Math.max(1, columns),
      scaleOf: numberPerBlock(factors, expert * rows * blocks, blocks),
      zeroOf: zerosOf(expert)
    })
}
