/** Attributes are single precision in ONNX and text in IR, so numbers that differ by its rounding are the same. */
const FLOAT_ROUNDING = 2 ** -23

/** Whether two parameters are the same: numbers up to the rounding of attributes, functions by identity. */
export function isSameParameter(a: unknown, b: unknown): boolean {
  if (Object.is(a, b) || a === b) return true
  if (typeof a === 'number' && typeof b === 'number')
    return (
      Number.isFinite(a) && Number.isFinite(b) && Math.abs(a - b) <= FLOAT_ROUNDING * Math.max(Math.abs(a), Math.abs(b))
    )
  if (typeof a === 'bigint' || typeof b === 'bigint')
    return (typeof a === 'number' || typeof b === 'number') && Number(a) === Number(b)
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (ArrayBuffer.isView(a) || Array.isArray(a)) return isSameList(a as ArrayLike<unknown>, b as ArrayLike<unknown>)
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every(key => Object.hasOwn(b, key) && isSameParameter(a[key as keyof typeof a], b[key as keyof typeof b]))
  )
}

function isSameList(a: ArrayLike<unknown>, b: ArrayLike<unknown>): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!isSameParameter(a[i], b[i])) return false
  return true
}
