/** A code of eight bits. */
// @ts-ignore: decorator
@inline
export function codeIn(at: usize, isSigned: bool): i32 {
  return isSigned ? <i32>load<i8>(at) : <i32>load<u8>(at)
}
