import type { DType } from '../../tensor/dtype.ts'

/** Of integers: log2 of the bytes, and whether they are unsigned. */
export const INTEGERS: Readonly<Partial<Record<DType, readonly [shift: number, isUnsigned: boolean]>>> = {
  bool: [0, true],
  uint8: [0, true],
  int8: [0, false],
  uint16: [1, true],
  int16: [1, false],
  uint32: [2, true],
  int32: [2, false],
  uint64: [3, true],
  int64: [3, false]
}
