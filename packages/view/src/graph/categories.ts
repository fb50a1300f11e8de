/** Families of operators, each with a colour of its own at the edge of its boxes. */
export type Family = keyof typeof FAMILIES | 'plain'

/** Parts of the names of operators of both dialects, families that win first. */
const FAMILIES = {
  quant: /Quant|QLinear/,
  norm: /Norm|MVN|LRN/,
  control: /^(If|Loop|Scan|TensorIterator|Sequence|Optional|ReadValue|Assign|Memory)/,
  conv: /Pool|Convolution|^(Conv(?!ert)|Deform)/,
  matrix: /MatMul|Attention|Cell|^(Gemm|Einsum|LSTM|GRU|RNN)/,
  pick: /NonMax|^(Gather|Scatter|Embedding|Slice|Strided|TopK|NonZero|OneHot|Ro[iI]|ROI|Select|Where|Compress|Hardmax)/,
  shape: /Shape|shape|queeze|Split|^(Transpose|Concat|Flatten|Expand|Broadcast|Tile|Pad|Range|Size|Depth|Space)/,
  convert: /^(Cast|Convert|Identity|Resize|Interpolate)/,
  reduce: /^(Reduce|Arg|CumSum|CumProd|Sum|Mean|Max|Min)/,
  activation: /R[eE]L[uU]|Relu|[eE]lu|ELU|Swish|Mish|Sigmoid|Tanh|Soft|^(Erf|Clamp|Clip|Exp|Log|Sqrt|HardS)/
} as const satisfies Readonly<Record<string, RegExp>>

const LIST = Object.entries(FAMILIES) as readonly (readonly [Family, RegExp])[]

/** The family of an operator, by its name. */
export const familyOf = (type: string): Family => LIST.find(([, pattern]) => pattern.test(type))?.[0] ?? 'plain'
