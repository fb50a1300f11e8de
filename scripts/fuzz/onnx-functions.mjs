// The edit of an ONNX file that replaces a node by a call of a model-local function.
import { copyOf, fieldOf, fieldsNamed, make, makeField, setField } from './wire.mjs'

/** A function of some nodes; it may call itself or one that calls it, or double at each call. */
export const functions = (mutant, random) => {
  const graph = fieldOf(mutant.root, 'graph')?.message
  const nodes = graph
    ? fieldsNamed(graph, 'node')
        .map(({ message }) => message)
        .filter(Boolean)
    : []
  if (nodes.length === 0) return
  const node = random.pick(nodes)
  const count = random.pick([1, 2, 2, 3, 3, 3, 12, 40])
  const call = i => make('NodeProto', { op_type: `F${i}`, domain: 'fuzz', input: ['x'], output: ['y'] })
  for (let i = 0; i < count; i++) {
    const next = random.chance(0.1) ? random.below(count) : i + 1
    const body =
      i + 1 < count || random.chance(0.1) ? [call(next), ...(random.chance(0.5) ? [call(next)] : [])] : [copyOf(node)]
    mutant.root.fields.push(
      makeField(
        mutant.root.type,
        'functions',
        make('FunctionProto', {
          name: `F${i}`,
          domain: 'fuzz',
          input: ['x'],
          output: ['y'],
          node: body,
          opset_import: [
            make('OperatorSetIdProto', { domain: '', version: 17n }),
            make('OperatorSetIdProto', { domain: 'fuzz', version: 1n })
          ]
        })
      )
    )
  }
  setField(node, 'op_type', 'F0')
  setField(node, 'domain', 'fuzz')
  mutant.root.fields.push(
    makeField(mutant.root.type, 'opset_import', make('OperatorSetIdProto', { domain: 'fuzz', version: 1n }))
  )
}
