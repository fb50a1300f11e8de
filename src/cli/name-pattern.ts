/** Whether a text names many by `*` or `?`. */
export const isPattern = (text: string): boolean => /[*?]/.test(text)

/**
 * A test for names: `*` stands for any characters, `/` too, since names of nodes are paths that nobody sees as
 * folders; `?` for one.
 */
export function namePattern(pattern: string): (name: string) => boolean {
  // Runs of `*` mean one, and would make the engine try every way to share out a name among them.
  const source = pattern
    .replace(/\*+/g, '*')
    .replace(/[\\^$.+()[\]{}|]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  const expression = new RegExp(`^${source}$`, 'su')
  return name => expression.test(name)
}
