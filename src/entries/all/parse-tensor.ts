import { tensorFromJson } from '../../io/json-tensor.ts'
import { parseJsonExact } from '../../io/json-text.ts'
import type { DType } from '../../tensor/dtype.ts'
import type { Tensor } from '../../tensor/tensor.ts'

/**
 * A tensor from a JSON literal, as `nodewise run --input` takes it: `[[1, 2], [3, 4]]`, `"a"`, or `{type, dims, data}`.
 * @param type of the elements; without it as the literal tells
 * @throws NodewiseError `invalid-file`, `type-mismatch`, `shape-mismatch`
 */
export const parseTensor = (text: string, type?: DType): Tensor =>
  tensorFromJson(parseJsonExact(text), type === undefined ? {} : { type })
