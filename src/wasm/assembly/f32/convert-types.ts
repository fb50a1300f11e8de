/* Types of elements by number, as in src/wasm/kernels/convert.ts. */

export const FLOAT32: i32 = 0
export const INT32: i32 = 1
export const INT64: i32 = 2
export const BOOL: i32 = 3
export const UINT8: i32 = 4
export const INT8: i32 = 5
export const FLOAT16: i32 = 6
export const BFLOAT16: i32 = 7
export const FLOAT64: i32 = 8
export const INT16: i32 = 9
export const UINT16: i32 = 10
export const UINT32: i32 = 11
export const UINT64: i32 = 12
