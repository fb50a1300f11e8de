// What a gather must answer, written from the specifications and as plainly as can be. It shares nothing with src/ on
// purpose: it is what
// the
// kernels are held against. Semantics of each version: the texts of ONNX and OpenVINO.

const size = dims => dims.reduce((a, b) => a * b, 1)

/** Coordinates of an element by its number in row-major order. */
function coordinates(at, dims) {
  const found = []
  for (let i = dims.length - 1; i >= 0; i--) {
    found.unshift(at % dims[i])
    at = Math.floor(at / dims[i])
  }
  return found
}

/** The number of an element by its coordinates. */
const offset = (place, dims) => place.reduce((sum, at, i) => sum * dims[i] + at, 0)

const integerTypes = ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64']
const onnxTypes = [...integerTypes, 'float16', 'float32', 'float64', 'string', 'bool', 'complex64', 'complex128']

/**
 * @param {object} node `op`, `dialect`, `since` (of the operator), `axis`, `batchDims`, `dataType`, `indexType`,
 *   `dataDims`, `indexDims`,
 *   `indices` (BigInt each)
 * @returns `{ errors }`, codes of which one is due, or `{ dims, positions }`: for each element of the output the number
 *   of the element of
 * the data
 *   that it is, or -1 for a zero
 */
export function gatherReference(node) {
  const errors = ruleErrors(node)
  if (errors.length > 0) return { errors }
  const { op, dialect, since, dataDims, indexDims, indices } = node
  const isLenient = op === 'Gather' && dialect === 'openvino' && since === 8
  const wraps = !(dialect === 'openvino' && ((op === 'Gather' && since < 8) || (op === 'GatherND' && since === 5)))
  let isOutside = false
  /** An index as a position along an axis; -1 where it is outside. */
  const resolve = (index, length) => {
    const position = wraps && index < 0n ? index + BigInt(length) : index
    if (position >= 0n && position < BigInt(length)) return Number(position)
    isOutside = true
    return -1
  }
  const found = { Gather, GatherElements, GatherND }[op](node, dataDims, indexDims, indices, resolve)
  return isOutside && !isLenient ? { errors: ['index-out-of-range'] } : found
}

function ruleErrors({ op, dialect, since, axis, batchDims, dataType, indexType, dataDims, indexDims }) {
  const errors = []
  const rank = dataDims.length
  const least = Math.min(rank, indexDims.length)
  const isOpenvino = dialect === 'openvino'
  if (isOpenvino) {
    const narrow = op === 'GatherElements' || (op === 'Gather' && since === 7)
    const allowed = narrow ? ['int32', 'int64'] : integerTypes
    if (!allowed.includes(indexType)) errors.push('index-type-not-allowed')
  } else {
    if (!(op === 'GatherND' ? ['int64'] : ['int32', 'int64']).includes(indexType)) errors.push('index-type-not-allowed')
    if (!onnxTypes.includes(dataType) && !(dataType === 'bfloat16' && since >= 13)) errors.push('type-not-allowed')
  }
  if (rank === 0) errors.push('rank-zero-data')
  if (op !== 'GatherND' && (axis < -rank || axis >= rank)) errors.push('axis-out-of-range')
  // Where several rules are broken, any of them may be named.
  if (errors.length > 0)
    return isOpenvino && op === 'Gather' ? [...errors, 'batch-dims-out-of-range', 'batch-dims-mismatch'] : errors
  if (op === 'GatherElements') {
    if (indexDims.length !== rank) return ['rank-mismatch']
    const at = axis < 0 ? axis + rank : axis
    const fits = indexDims.every((dim, i) => i === at || (isOpenvino ? dim === dataDims[i] : dim <= dataDims[i]))
    return fits ? [] : ['dims-mismatch']
  }
  let batch = batchDims
  if (op === 'GatherND') {
    if (indexDims.length === 0) return ['rank-mismatch']
    if (batch < 0 || batch >= least) return ['batch-dims-out-of-range']
    const width = indexDims.at(-1)
    if (width < 1 || width > rank - batch) errors.push('dims-mismatch')
  } else if (isOpenvino && since >= 7) {
    const at = axis < 0 ? axis + rank : axis
    const highest = since === 8 ? least : Math.max(0, least - 1)
    if (batch < -least || batch > highest) return ['batch-dims-out-of-range']
    if (batch < 0) batch += indexDims.length
    if (batch > at) return ['batch-dims-out-of-range', 'batch-dims-mismatch']
  }
  for (let i = 0; i < batch; i++) if (dataDims[i] !== indexDims[i]) return [...errors, 'batch-dims-mismatch']
  return errors
}

/** Every element of an output of these dims. */
const each = (dims, position) => ({
  dims,
  positions: Array.from({ length: size(dims) }, (_, i) => position(coordinates(i, dims)))
})

function Gather({ axis, batchDims }, dataDims, indexDims, indices, resolve) {
  const at = axis < 0 ? axis + dataDims.length : axis
  const batch = batchDims < 0 ? batchDims + indexDims.length : batchDims
  const resolved = indices.map(index => resolve(index, dataDims[at]))
  const middle = indexDims.length - batch
  return each([...dataDims.slice(0, at), ...indexDims.slice(batch), ...dataDims.slice(at + 1)], place => {
    const index = resolved[offset([...place.slice(0, batch), ...place.slice(at, at + middle)], indexDims)]
    return index < 0 ? -1 : offset([...place.slice(0, at), index, ...place.slice(at + middle)], dataDims)
  })
}

function GatherElements({ axis }, dataDims, indexDims, indices, resolve) {
  const at = axis < 0 ? axis + dataDims.length : axis
  const resolved = indices.map(index => resolve(index, dataDims[at]))
  return each(indexDims, place =>
    offset(
      place.map((coordinate, i) => (i === at ? resolved[offset(place, indexDims)] : coordinate)),
      dataDims
    )
  )
}

function GatherND({ batchDims, dialect, since }, dataDims, indexDims, indices, resolve) {
  const width = indexDims.at(-1)
  const resolved = indices.map((index, i) => resolve(index, dataDims[batchDims + (i % width)]))
  const batch = dataDims.slice(0, batchDims)
  const outer = indexDims.slice(0, -1)
  const found = each([...outer, ...dataDims.slice(batchDims + width)], place => {
    const tuple = offset(place.slice(0, outer.length), outer)
    return offset(
      [
        ...place.slice(0, batchDims),
        ...resolved.slice(tuple * width, tuple * width + width),
        ...place.slice(outer.length)
      ],
      dataDims
    )
  })
  const isFused = dialect === 'openvino' && since === 5 && batchDims > 1
  return isFused ? { ...found, dims: [size(batch), ...found.dims.slice(batchDims)] } : found
}

/**
 * GatherTree-1: positions in `step_ids`, -1 for the end token.
 * @param dims of step_ids and parent_ids: `[time, batch, beam]`
 */
export function gatherTreeReference({ dims, steps, parents, lengths, end }) {
  const [times, batches, beams] = dims
  const positions = Array(size(dims)).fill(-1)
  for (let batch = 0; batch < batches; batch++) {
    const length = Math.min(times, lengths[batch])
    for (let beam = 0; beam < beams && length > 0; beam++) {
      const path = []
      let from = beam
      for (let time = length - 1; time >= 0; time--) {
        if (!(from >= 0 && from < beams)) return { errors: ['index-out-of-range'] }
        path.unshift(offset([time, batch, from], dims))
        from = parents[path[0]]
      }
      const last = path.findIndex(at => steps[at] === end)
      path.forEach((at, time) => {
        if (last < 0 || time <= last) positions[offset([time, batch, beam], dims)] = at
      })
    }
  }
  return { dims, positions }
}
