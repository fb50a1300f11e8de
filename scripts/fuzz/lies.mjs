// Holds what a check without errors says of values against what a run makes of them.

/** Collects the types and dims of values as a run makes them: `onStep` of a session. */
export function observer() {
  const seen = []
  return {
    seen,
    onStep({ node, outputs }) {
      // Values of bodies and functions have other names, and may differ from turn to turn.
      if (node.place.graphPath) return
      node.outputs.forEach((id, i) => {
        const value = outputs[i]
        if (id !== undefined && value !== undefined && 'dims' in value)
          seen.push({ id, dims: value.dims, type: value.type })
      })
    }
  }
}

/**
 * @param checked what `check` gives; nothing where it failed
 * @param seen values as a run made them
 * @returns a problem, or undefined where nothing is belied
 */
export function lieOf(model, checked, outputs, seen) {
  // A note says that something was concluded from what is declared, which a run may yet contradict.
  if (checked === undefined || checked.summary.errors > 0 || checked.values.some(({ note }) => note !== undefined))
    return undefined
  const missing = model.graph.outputs.find(({ name }) => outputs[name] === undefined)
  if (missing) return { kind: 'lie', message: `there is no output "${missing.name}"` }
  const inferred = new Map(
    checked.values.filter(({ graphPath }) => graphPath === model.graph.path).map(value => [value.id, value])
  )
  const sizes = new Map()
  for (const { id, dims, type } of seen) {
    const value = inferred.get(id)
    if (
      value?.dims !== undefined &&
      !(value.dims.length === dims.length && value.dims.every((dim, i) => mayBe(dim, dims[i], sizes)))
    ) {
      return { kind: 'lie', message: `"${value.name}" is inferred as [${value.dims}] and is [${dims}]` }
    }
    if (model.dialect === 'onnx' && value?.type !== undefined && value.type !== type) {
      return { kind: 'lie', message: `"${value.name}" is inferred as ${value.type} and is ${type}` }
    }
  }
  return undefined
}

/**
 * Whether a dim of a check, a number, an interval, a name or an expression, may have a size; a name has the same one
 * everywhere.
 */
function mayBe(dim, size, sizes) {
  if (typeof dim === 'number') return dim === size
  const [, least, most] = /^(\d+)\.\.(\d*)$/.exec(dim) ?? []
  if (least !== undefined) return size >= Number(least) && (most === '' || size <= Number(most))
  if (!/^[A-Za-z_]\w*$/.test(dim)) return true
  if (!sizes.has(dim)) sizes.set(dim, size)
  return sizes.get(dim) === size
}
