import type { Attribute, ValueId } from '../../graph/graph.ts'
import { type Derivative, type Differentiated, type Rule, without } from './backward.ts'
import { rule } from './elementwise.ts'
import { int, ints, text, type Writer } from './writer.ts'

type Table = Readonly<Record<string, Derivative>>

const zerosLike = (w: Writer, x: ValueId): ValueId => w.filled(0, x)

/** The same elements under other dims. */
const reshaped = rule((w, { x: [x], d }) => [w.reshapeLike(d, x)])

/**
 * An operator that moves elements of its first operand, whatever it does with them: it is run on the positions of the
 * elements instead, and the derivatives are added at the positions that come out. Zero, which an operator may fill in,
 * is the position of nothing.
 * @param isPad positions are floats, since Pad takes no others before opset 13; it is given no constant, whose type is
 *   that of the data
 */
const moved =
  (isPad = false): Rule =>
  (w, { node, x: [x, ...others], y, dy }) => {
    const one = w.list(1)
    const size = w.call('Reshape', [w.call('Size', [x]), one])
    const end = w.call('Add', [size, one])
    const scalar = (list: ValueId): ValueId => w.call('Squeeze', [list])
    const numbers = w.reshapeLike(w.call('Range', [scalar(one), scalar(end), scalar(one)]), x)
    const inputs = isPad ? [w.float64(numbers), others[0], undefined, others[2]] : [numbers, ...others]
    const positions = w.again(node, { inputs: inputs.slice(0, node.inputs.length) }, y.length)
    let sum = w.call('Expand', [w.like(0, x), end])
    dy.forEach((d, i) => {
      if (d === undefined) return
      const at = w.call('Reshape', [isPad ? w.int64(positions[i]) : positions[i], w.list(-1)])
      const updates = w.call('Reshape', [d, w.list(-1)])
      sum = w.call('ScatterElements', [sum, at, updates], { axis: int(0), reduction: text('add') })
    })
    return [w.reshapeLike(w.part(sum, one, end), x)]
  }

const scatter = (
  w: Writer,
  type: 'ScatterElements' | 'ScatterND',
  [data, indices, updates]: readonly [ValueId, ValueId, ValueId],
  attributes: Readonly<Record<string, Attribute>> = {}
): ValueId => w.call(type, [data, indices, updates], { ...attributes, reduction: text('add') })

/** What a scatter writes over, or adds to; the other reductions have no derivative here. */
const scattered = (type: 'ScatterElements' | 'ScatterND', gather: 'GatherElements' | 'GatherND'): Derivative =>
  rule((w, { node, x: [, indices, updates], d, text: read, attribute }) => {
    const axis = attribute('axis')
    const along = axis && { axis }
    const reduction = read('reduction', 'none')
    if (reduction !== 'none' && reduction !== 'add') without(node, ` with reduction ${reduction}`)
    const kept = reduction === 'add' ? d : w.call(type, [d, indices, zerosLike(w, updates)], along)
    return [kept, undefined, w.call(gather, [d, indices], along)]
  })

/** Sizes of values along an axis, as a list. */
const sizesAlong = (w: Writer, values: readonly ValueId[], axis: number): ValueId =>
  w.join(...values.map(id => w.call('Gather', [w.shape(id), w.list(axis)])))

/** Attributes became inputs: pads with opset 11. */
function padsOf(w: Writer, { x, version, ints: read }: Differentiated): ValueId {
  return version >= 11 ? x[1] : w.list(...(read(version >= 2 ? 'pads' : 'paddings') ?? []))
}

const MOVED = moved()
const MOVED_BY_PAD = moved(true)

const MOVING: Table = {
  Reshape: reshaped,
  Flatten: reshaped,
  Squeeze: reshaped,
  Unsqueeze: reshaped,
  Identity: rule((_, { d }) => [d]),
  Transpose: rule((w, { d, ints: read }) => {
    const order = read('perm')
    return [w.call('Transpose', [d], order && { perm: ints(order.map((_, i) => order.indexOf(i))) })]
  }),
  Expand: rule((w, { x: [x], d }) => [w.sumTo(d, x)]),
  Concat: rule((w, { x, d, int: read }) => {
    const axis = read('axis', 1)
    return w.outputsOf('Split', [d, sizesAlong(w, x, axis)], { axis: int(axis) }, x.length)
  }),
  Split: rule((w, { node, y, dy, int: read }) => {
    // Parts that the node leaves out have a size, too.
    const parts = node.outputs.includes(undefined) ? w.again(node, {}, y.length) : y
    const all = parts.map((id, i) => dy[i] ?? zerosLike(w, id))
    return [w.call('Concat', all, { axis: int(read('axis', 0)) })]
  }),
  Gather: rule((w, call) => {
    const { x, d, int: read } = call
    if (read('axis', 0) !== 0) return MOVED(w, call)
    return [scatter(w, 'ScatterND', [zerosLike(w, x[0]), w.call('Unsqueeze', [x[1], w.list(-1)]), d])]
  }),
  GatherElements: rule((w, { x, d, int: read }) => [
    scatter(w, 'ScatterElements', [zerosLike(w, x[0]), x[1], d], { axis: int(read('axis', 0)) })
  ]),
  GatherND: rule((w, call) => {
    const { x, d, int: read } = call
    return read('batch_dims', 0) === 0 ? [scatter(w, 'ScatterND', [zerosLike(w, x[0]), x[1], d])] : MOVED(w, call)
  }),
  ScatterElements: scattered('ScatterElements', 'GatherElements'),
  ScatterND: scattered('ScatterND', 'GatherND'),
  // Negative pads cut off what positive ones have added, and the other way round.
  Pad: rule((w, call) => {
    const { x, d, node, version, text: read } = call
    if (read('mode', 'constant') !== 'constant') return MOVED_BY_PAD(w, call)
    const axes = node.inputs[3] === undefined ? [] : [undefined, x[3]]
    const inner = w.call('Pad', [d, w.call('Neg', [padsOf(w, call)]), ...axes])
    if (version < 11 || !call.wants(2)) return [inner]
    const [all, inside] = [d, inner].map(id => w.call('ReduceSum', [id], { keepdims: int(0) }))
    return [inner, undefined, w.reshapeLike(w.sub(all, inside), x[2])]
  }),
  TopK: rule((w, call) => {
    // Nothing is differentiated by indices, whatever is made of them.
    if (call.dy[0] === undefined) return []
    const { node, x, d, int: read } = call
    const indices = node.outputs[1] ?? w.again(node, {}, 2)[1]
    return [scatter(w, 'ScatterElements', [zerosLike(w, x[0]), indices, d], { axis: int(read('axis', -1)) })]
  }),
  Cast: rule((w, { x: [x], d, int: read }) => [FLOATS.has(read('to')) ? w.call('CastLike', [d, x]) : undefined]),
  CastLike: rule((w, { x: [x], y: [y], d, wants }) => {
    if (!wants(0)) return []
    // A cast to whole numbers changes by steps. Types are not known here, but floats alone can be a half.
    const isFloat = w.equal(w.float64(w.like(0.5, y)), 0.5)
    return [w.where(isFloat, w.call('CastLike', [d, x]), 0, x)]
  }),
  // The limit decides about the number of elements alone.
  Range: rule((w, { x: [start, , step], d, wants }) => {
    const [zero, one] = [0, 1].map(value => w.call('Squeeze', [w.list(value)]))
    const factors = (): ValueId => w.call('CastLike', [w.call('Range', [zero, w.call('Size', [d]), one]), d])
    return [
      wants(0) ? w.reshapeLike(w.sum(d), start) : undefined,
      undefined,
      wants(2) ? w.reshapeLike(w.sum(w.mul(d, factors())), step) : undefined
    ]
  }),
  OneHot: rule((w, { node, x: [indices, depth, values], d, wants }) => {
    if (!wants(2)) return []
    const bits = w.call('CastLike', [w.list(0, 1), values])
    const [isOn] = w.again(node, { inputs: [indices, depth, bits] }, 1)
    const sums = [w.sub(1, isOn), isOn].map(share => w.reshape(w.sum(w.mul(d, share)), w.list(1)))
    return [undefined, undefined, w.join(...sums)]
  }),
  Dropout: rule((w, call) => {
    // Nor by the mask.
    if (call.dy[0] === undefined) return []
    const { node, x, y, version, d } = call
    const isTraining = version >= 12 && node.inputs[2] !== undefined
    if (!isTraining && version >= 7) return [d]
    if (!isTraining || node.outputs[1] === undefined) return without(node, ' without its mask')
    const ratio = node.inputs[1] === undefined ? w.like(0.5, d) : w.call('CastLike', [x[1], d])
    const scaled = w.where(y[1], w.div(d, w.sub(1, ratio)), 0, d)
    return [w.call('Where', [x[2], scaled, d])]
  })
}

/** Element types of ONNX that are floats. */
const FLOATS: ReadonlySet<number> = new Set([1, 10, 11, 16])

/** Operators whose first operand is only moved, and that have no shorter rule. */
const MOVED_TYPES = 'Slice Tile Trilu DepthToSpace SpaceToDepth Compress ReverseSequence CenterCropPad'.split(' ')

export const LAYOUT: Table = { ...Object.fromEntries(MOVED_TYPES.map(type => [type, rule(MOVED)])), ...MOVING }
