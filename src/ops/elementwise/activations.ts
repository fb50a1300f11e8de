import { fail } from '../../errors.ts'
import { unary, type UnaryLoop } from '../../kernels/core/elementwise.ts'
import * as kernels from '../../kernels/elementwise/activations.ts'
import { RELU } from '../../kernels/elementwise/unary.ts'
import { type DataDependent, defineOp, type Op, params } from '../../op-kit/define.ts'
import { choice, derive, float, inputFloat, is, mapped, type NodeFacts, type Source } from '../../op-kit/sources.ts'
import { FLOATS, NUMERIC } from '../../op-kit/types.ts'
import { type ElemFunction, maxElems } from '../../shapes/elem.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { fractional, microsoft, onnx, openvino, type UnaryFunction, unaryOp } from './unary.ts'

type FunctionSource = Source<UnaryFunction>

const attribute = (node: NodeFacts, name: string): number =>
  node.get(float(name)) ?? fail('missing-attribute', `attribute "${name}" is missing`)
/** A function with the parameter `alpha`. */
const withAlpha = (loopFor: (alpha: number) => UnaryLoop): FunctionSource =>
  mapped(
    float('alpha'),
    alpha => ({ ...fractional(loopFor(alpha)), alpha }),
    fn => (fn.kind === 'fractional' ? fn.alpha : undefined)
  )

const ELU = withAlpha(kernels.elu)
const reluElem: ElemFunction = ([x]) => maxElems([x, typeof x === 'number' ? 0 : 0n])
const RELU_FUNCTION: FunctionSource = is({ kind: 'exact', loops: RELU, result: 'same', elem: reluElem })
const SIGMOID = is(fractional(kernels.SIGMOID))
const SOFTPLUS = is(fractional(kernels.SOFTPLUS))
const SOFTSIGN = is(fractional(kernels.SOFTSIGN))
const MISH = is(fractional(kernels.MISH))
const HARD_SWISH = is(fractional(kernels.HARD_SWISH))
export const GELU: UnaryFunction = { ...fractional(kernels.GELU), approximation: 'none' }
export const GELU_TANH: UnaryFunction = { ...fractional(kernels.GELU_TANH), approximation: 'tanh' }
const SHRINK: FunctionSource = derive(node => {
  const shrink = [attribute(node, 'lambd'), attribute(node, 'bias')] as const
  return { kind: 'exact', loops: kernels.shrink(...shrink), result: 'same', shrink }
})

/** A function with the parameters `alpha` and `beta`, which have no defaults. */
const withAlphaAndBeta = (loopFor: (alpha: number, beta: number) => UnaryLoop): FunctionSource =>
  derive(node => fractional(loopFor(attribute(node, 'alpha'), attribute(node, 'beta'))))

/** Activation functions. Those whose parameters may come from inputs (Selu, HardSigmoid, Swish) are defined in full. */
export const activationOps: readonly Op[] = [
  unaryOp('Relu', [onnx('Relu', 1, RELU_FUNCTION)], [openvino('ReLU', 1, NUMERIC, RELU_FUNCTION)]),
  unaryOp('LeakyRelu', [onnx('LeakyRelu', 1, withAlpha(kernels.leakyRelu))], []),
  unaryOp('Elu', [onnx('Elu', 1, ELU)], [openvino('Elu', 1, FLOATS, ELU)]),
  unaryOp('Celu', [onnx('Celu', 12, withAlpha(kernels.celu))], []),
  unaryOp('ThresholdedRelu', [onnx('ThresholdedRelu', 1, withAlpha(kernels.thresholdedRelu))], []),
  unaryOp('Sigmoid', [onnx('Sigmoid', 1, SIGMOID)], [openvino('Sigmoid', 1, FLOATS, SIGMOID)]),
  unaryOp('HardSwish', [onnx('HardSwish', 14, HARD_SWISH)], [openvino('HSwish', 4, FLOATS, HARD_SWISH)]),
  unaryOp('HSigmoid', [], [openvino('HSigmoid', 5, FLOATS, is(fractional(kernels.HARD_SIGMOID_6)))]),
  unaryOp('Softplus', [onnx('Softplus', 1, SOFTPLUS)], [openvino('SoftPlus', 4, FLOATS, SOFTPLUS)]),
  unaryOp('Softsign', [onnx('Softsign', 1, SOFTSIGN)], [openvino('SoftSign', 9, FLOATS, SOFTSIGN)]),
  unaryOp('Mish', [onnx('Mish', 18, MISH)], [openvino('Mish', 4, FLOATS, MISH)]),
  unaryOp(
    'Gelu',
    [onnx('Gelu', 1, choice('approximate', { none: GELU, tanh: GELU_TANH })), microsoft('Gelu', is(GELU))],
    [
      openvino('Gelu', 2, FLOATS, is(GELU)),
      openvino('Gelu', 7, FLOATS, choice('approximation_mode', { erf: GELU, tanh: GELU_TANH }))
    ]
  ),
  unaryOp('Shrink', [onnx('Shrink', 9, SHRINK)], []),
  unaryOp(
    'Affine',
    [
      onnx('Affine', 1, withAlphaAndBeta(kernels.affine)),
      onnx(
        'Scale',
        1,
        mapped(float('scale'), scale => fractional(kernels.affine(scale, 0)))
      )
    ],
    []
  ),
  unaryOp('ScaledTanh', [onnx('ScaledTanh', 1, withAlphaAndBeta(kernels.scaledTanh))], []),
  unaryOp('ParametricSoftplus', [onnx('ParametricSoftplus', 1, withAlphaAndBeta(kernels.parametricSoftplus))], []),
  defineOp({
    name: 'Selu',
    operands: { x: 'tensor' },
    params: params<{ alpha: DataDependent<number>; gamma: DataDependent<number> }>(),
    onnx: [{ since: 1, bind: { alpha: float('alpha'), gamma: float('gamma') } }],
    openvino: [
      {
        since: 1,
        types: { x: FLOATS, alpha: FLOATS, gamma: FLOATS },
        bind: { alpha: inputFloat(1), gamma: inputFloat(2) }
      }
    ],
    shape: ({ x }) => [tensorFact(x.type, x.shape)],
    run: ({ x }, { alpha, gamma }, call) => unary({ float: kernels.selu(alpha, gamma) }, x, call.output())
  }),
  defineOp({
    name: 'HardSigmoid',
    operands: { x: 'tensor' },
    params: params<{ alpha: DataDependent<number>; beta: DataDependent<number> }>(),
    onnx: [{ since: 1, bind: { alpha: float('alpha'), beta: float('beta') } }],
    openvino: [
      {
        since: 1,
        types: { x: FLOATS, alpha: FLOATS, beta: FLOATS },
        bind: { alpha: inputFloat(1), beta: inputFloat(2) }
      }
    ],
    shape: ({ x }) => [tensorFact(x.type, x.shape)],
    run: ({ x }, { alpha, beta }, call) => unary({ float: kernels.hardSigmoid(alpha, beta) }, x, call.output())
  }),
  defineOp({
    name: 'Swish',
    operands: { x: 'tensor' },
    params: params<{ beta: DataDependent<number> }>(),
    onnx: [
      { since: 24, bind: { beta: float('alpha') } },
      { domain: 'com.microsoft', type: 'QuickGelu', since: 1, bind: { beta: float('alpha') } }
    ],
    openvino: [{ since: 4, types: { x: FLOATS, beta: FLOATS }, bind: { beta: inputFloat(1, 1) } }],
    inPlace: ['x'],
    shape: ({ x }) => [tensorFact(x.type, x.shape)],
    run: ({ x }, { beta }, call) => unary({ float: kernels.swish(beta) }, x, call.rawOutput())
  })
]
