import { ALL_DTYPES, type DType, DTYPES } from '../tensor/dtype.ts'

/** An element type of IR; `dynamic` is not known. */
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
 * The type that a port's `precision` names: `FP32` or `f32`, not `F32` (OpenVINO 2026.4); undefined for other words.
 */
export const typeFromPrecision = (text: string): IrType | undefined => byPrecision.get(text)

/**
 * The type that an `element_type` in `<data>` names, in any case: `f32`, not `FP32` (OpenVINO 2026.4); undefined for
 * other words.
 */
export const typeFromName = (text: string): IrType | undefined => byName.get(text.toLowerCase())

/** The type of a Const, where only lower case is read (OpenVINO 2026.4). */
export const typeOfConstant = (text: string): IrType | undefined => byName.get(text)
