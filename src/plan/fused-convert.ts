import { altered, type Call } from '../bind/call.ts'
import type { Constant } from '../graph/graph.ts'
import { elementCount, memoryBytes, type Tensor } from '../tensor/tensor.ts'
import { isPlanCall, positionOf } from './graph.ts'
import type { Pattern } from './match.ts'

/** Bytes from which on rows of a table are read alone: reading fewer bytes takes less than a millisecond. */
export const MIN_TABLE_BYTES = 2 ** 20

/**
 * An elementwise conversion of a large constant in which rows are looked up (OpenVINO stores weights in half precision)
 * becomes part of the call that looks rows up: the rows are converted instead. It is fused where every reader looks
 * rows up; otherwise the whole table is needed anyway.
 */
export const fusedConvert: Pattern = {
  name: 'convert rows',
  calls: {
    convert: {
      where: ({ op, operands, inputs }) =>
        op.elem !== undefined && operands.length === 1 && operands[0].kind === 'tensor' && inputs.length === 1,
      reads: ({ operands }) => ({ [operands[0].name]: 'table' }),
      repeats: true
    },
    // Operators of the caller's own may look rows up, too.
    lookup: { where: ({ op }) => op.rows !== undefined, reads: ({ op }) => ({ [op.rows!.table]: 'convert' }) }
  },
  root: 'lookup',
  guard({ calls, values }, graph) {
    const converted = calls.get('convert')!.call.outputs[0]!
    return (
      isLargeInFile(graph.constantOf(values.get('table')!)) &&
      [...graph.readersOf(converted)].every(reader => isPlanCall(reader) && looksRowsUpIn(reader.call, converted))
    )
  },
  fuse({ calls, values }) {
    const { call } = calls.get('lookup')!
    const table = positionOf(call, call.op.rows?.table)
    return {
      call: altered(call, { inputs: call.inputs.with(table, values.get('table')) }),
      convert: calls.get('convert')!.call
    }
  }
}

/** Whether a call reads a value as its table and nowhere else. */
function looksRowsUpIn({ op, operands, inputs, node }: Call, id: string): boolean {
  const table = positionOf({ operands }, op.rows?.table)
  return !node.captures.includes(id) && inputs.every((input, i) => input !== id || i === table)
}

/** Whether rows of a constant can be read from its file, and reading them alone may pay. */
export const isLargeInFile = (constant: Constant | Tensor | undefined): boolean =>
  constant !== undefined &&
  'read' in constant &&
  constant.raw !== undefined &&
  memoryBytes(constant.type, elementCount(constant.dims)) >= MIN_TABLE_BYTES
