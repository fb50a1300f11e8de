import type { Attribute, ValueId } from '../../graph/graph.ts'
import { type Derivative, type Differentiated, without } from './backward.ts'
import { rewrite, rule } from './elementwise.ts'
import { int, ints, type Writer } from './writer.ts'

/** What of a convolution both directions share. */
interface Windows {
  readonly strides: readonly number[] | undefined
  readonly dilations: readonly number[] | undefined
  readonly group: number
}

const windowsOf = ({ ints: read, int: readInt }: Differentiated): Windows => ({
  strides: read('strides'),
  dilations: read('dilations'),
  group: readInt('group', 1)
})

const attributesOf = ({ strides, dilations, group }: Windows): Record<string, Attribute> => ({
  ...(strides && { strides: ints(strides) }),
  ...(dilations && { dilations: ints(dilations) }),
  group: int(group)
})

const END = 2 ** 31 - 1
/** Dims after those of the batch and the channels. */
const spatial = (w: Writer, x: ValueId): ValueId => w.part(w.shape(x), w.list(2), w.list(END))
/** One dim, as a list. */
const dim = (w: Writer, x: ValueId, axis: number): ValueId => w.part(w.shape(x), w.list(axis), w.list(axis + 1))

/** Pads of all axes, first those before the data; undefined where there are none. */
function padsOf(w: Writer, call: Differentiated): ValueId | undefined {
  const mode = call.text('auto_pad', 'NOTSET')
  if (mode === 'VALID') return undefined
  if (mode === 'NOTSET') {
    const pads = call.ints('pads')
    if (pads === undefined || pads.every(pad => pad === 0)) return undefined
    const half = pads.length / 2
    return w.list(0, 0, ...pads.slice(0, half), 0, 0, ...pads.slice(half))
  }
  // SAME: what the windows need beyond the data, the odd one at the end or at the start.
  const { strides, dilations } = windowsOf(call)
  const integers = (type: string, a: ValueId, b: ValueId): ValueId => w.call(type, [a, b])
  const reach = (count: ValueId, step: readonly number[] | undefined): ValueId => {
    const steps = integers('Sub', count, w.list(1))
    return step === undefined ? steps : integers('Mul', steps, w.list(...step))
  }
  const windows = integers('Add', reach(spatial(w, call.y[0]), strides), reach(spatial(w, call.x[1]), dilations))
  const missing = integers('Sub', integers('Add', windows, w.list(1)), spatial(w, call.x[0]))
  const total = integers('Max', missing, w.list(0))
  const less = integers('Div', total, w.list(2))
  const more = integers('Sub', total, less)
  const none = w.list(0, 0)
  return mode === 'SAME_LOWER' ? w.join(none, more, none, less) : w.join(none, less, none, more)
}

/** `x` cut or filled with zeros at the ends of its axes to the dims of another value. */
function fitted(w: Writer, x: ValueId, like: ValueId): ValueId {
  const zeros = w.call('Expand', [w.list(0), w.rank(x)])
  return w.call('Pad', [x, w.join(zeros, w.call('Sub', [w.shape(like), w.shape(x)]))])
}

/** `x` as [batch, group, channels of the group, positions], its first three axes in another order, then joined. */
function regrouped(w: Writer, x: ValueId, group: number, order: string, joined: 'first' | 'second'): ValueId {
  const groups = w.list(group)
  const parts = [dim(w, x, 0), groups, w.call('Div', [dim(w, x, 1), groups])]
  const split = w.reshape(x, w.join(...parts, spatial(w, x)))
  const [a, b, c] = [...order].map(letter => parts['ngc'.indexOf(letter)])
  const dims = joined === 'first' ? [w.call('Mul', [a, b]), c] : [a, w.call('Mul', [b, c])]
  return w.reshape(w.einsum(`ngc...->${order}...`, split), w.join(...dims, spatial(w, x)))
}

/** The derivative of a convolution without pads by its weights: a convolution whose windows are the derivative. */
function byWeights(w: Writer, x: ValueId, d: ValueId, weights: ValueId, windows: Windows): ValueId {
  const { group, strides: dilations, dilations: strides } = windows
  const inputs = [regrouped(w, x, group, 'cgn', 'second'), regrouped(w, d, group, 'gcn', 'first')]
  const product = w.call('Conv', inputs, attributesOf({ group, strides, dilations }))
  return fitted(w, w.einsum('ab...->ba...', product), weights)
}

/** The derivative by a bias: sums of all but the channels. */
function byBias(w: Writer, { node, x, d, wants }: Differentiated): ValueId | undefined {
  if (node.inputs[2] === undefined || !wants(2)) return undefined
  return w.reshapeLike(w.sum(w.call('Reshape', [d, w.list(0, 0, -1)]), w.list(0, 2)), x[2])
}

const conv = rule((w, call) => {
  const [x, weights] = call.x
  const windows = windowsOf(call)
  const pads = padsOf(w, call)
  const padded = pads === undefined ? x : w.call('Pad', [x, pads])
  const byData = (): ValueId => {
    const whole = w.call('ConvTranspose', [call.d, weights], attributesOf(windows))
    const inner = fitted(w, whole, padded)
    return pads === undefined ? inner : w.call('Pad', [inner, w.call('Neg', [pads])])
  }
  return [
    call.wants(0) ? byData() : undefined,
    call.wants(1) ? byWeights(w, padded, call.d, weights, windows) : undefined,
    byBias(w, call)
  ]
})

/** The transpose of a convolution: its derivative by the data is that convolution. */
const convTranspose = rule((w, call) => {
  const { node, x, d } = call
  if (call.attribute('output_shape') || call.text('auto_pad', 'NOTSET') !== 'NOTSET')
    return without(node, ' whose pads are not given')
  const windows = windowsOf(call)
  const pads = padsOf(w, call)
  const padded = pads === undefined ? d : w.call('Pad', [d, pads])
  return [
    call.wants(0) ? fitted(w, w.call('Conv', [padded, x[1]], attributesOf(windows)), x[0]) : undefined,
    call.wants(1) ? byWeights(w, padded, x[0], x[1], windows) : undefined,
    byBias(w, call)
  ]
})

/** Sums of windows, by a convolution with ones, over their sizes. */
const averagePool = rewrite((w, call) => {
  const { x, y, attribute } = call
  if (call.int('ceil_mode', 0) !== 0) return without(call.node, ' with ceil_mode')
  const kernel = call.ints('kernel_shape') ?? []
  const window = w.call('Expand', [w.like(1, x[0]), w.list(1, 1, ...kernel)])
  const planes = w.call('Mul', [dim(w, x[0], 0), dim(w, x[0], 1)])
  const flat = w.reshape(x[0], w.join(planes, w.list(1), spatial(w, x[0])))
  const names = ['strides', 'dilations', 'pads', 'auto_pad']
  const same = Object.fromEntries(names.flatMap(name => (attribute(name) ? [[name, attribute(name)!]] : [])))
  const sums = (of: ValueId): ValueId => w.call('Conv', [of, window], same)
  const size = kernel.reduce((product, each) => product * each, 1)
  const mean = w.div(sums(flat), call.int('count_include_pad', 0) === 1 ? size : sums(w.filled(1, flat)))
  return [w.reshapeLike(mean, y[0])]
})

/** The derivative goes to the elements that were the largest, which the second output of MaxPool names. */
const maxPool = rule((w, call) => {
  // Nothing is differentiated by indices, whatever is made of them.
  if (call.dy[0] === undefined) return []
  const { node, x, d } = call
  if (call.int('storage_order', 0) !== 0) return without(node, ' with storage_order')
  const version = String(Math.max(12, call.version))
  const indices = node.outputs[1] ?? w.again(node, { version }, 2)[1]
  const all = w.list(-1)
  const zeros = w.call('Expand', [w.like(0, x[0]), w.call('Reshape', [w.call('Size', [x[0]]), w.list(1)])])
  const inputs = [zeros, ...[indices, d].map(each => w.call('Reshape', [each, all]))]
  return [w.reshapeLike(w.call('ScatterElements', inputs, { reduction: { kind: 'string', value: 'add' } }), x[0])]
})

/** Convolutions and pools. */
export const CONVOLUTIONS: Readonly<Record<string, Derivative>> = {
  Conv: conv,
  ConvTranspose: convTranspose,
  AveragePool: averagePool,
  MaxPool: maxPool
}
