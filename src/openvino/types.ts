import { ALL_DTYPES, type DType, DTYPES } from '../tensor/dtype.ts'

/** An element type of IR; `dynamic` stands for any. */
export type IrType = DType | 'dynamic'

const byName = new Map<string, IrType>([
  ['dynamic', 'dynamic'],
  ['undefined', 'dynamic']
])
const byPrecision = new Map<string, IrType>([...byName, ['UNSPECIFIED', 'dynamic'], ['U1', 'uint1'], ['bin', 'uint1']])
for (const type of ALL_DTYPES) {
  const { openvino, precision } = DTYPES[type]
  if (openvino === undefined || precision === undefined) continue
  byName.set(openvino, type)
  byPrecision.set(openvino, type)
  byPrecision.set(precision, type)
}

/**
 * The type for the `precision` of a port, `FP32` or `f32`, but not `F32` (OpenVINO 2026.4). Undefined for other words.
 */
export const typeFromPrecision = (text: string): IrType | undefined => byPrecision.get(text)

/** The type for an `element_type` in `<data>`, `f32` in any case (OpenVINO 2026.4). Undefined for other words. */
export const typeFromName = (text: string): IrType | undefined => byName.get(text.toLowerCase())

/** The type for the `element_type` of a Const, which must be lower case (OpenVINO 2026.4). */
export const typeOfConstant = (text: string): IrType | undefined => byName.get(text)
