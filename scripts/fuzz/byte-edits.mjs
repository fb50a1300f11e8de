// Edits of the written bytes of a mutant, whatever their format.

/** An edit of a mutant by one of its bytes. */
export const onBytes = edit => (mutant, random) => mutant.after.push(bytes => edit(bytes, random))

export const cut = onBytes((bytes, random) => bytes.subarray(0, random.below(bytes.length + 1)))
export const flip = onBytes((bytes, random) => {
  const copy = Buffer.from(bytes)
  for (let i = random.pick([1, 1, 2, 8]); i > 0 && copy.length > 0; i--)
    copy[random.below(copy.length)] ^= 1 << random.below(8)
  return copy
})
export const remove = onBytes((bytes, random) => {
  const at = random.below(bytes.length + 1)
  return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random.between(1, 12))])
})
