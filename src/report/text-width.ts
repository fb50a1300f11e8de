const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\uff01-\uff60\p{Emoji_Presentation}]/u
const MARK = /\p{M}/u

/** Columns of a monospaced font that characters take. */
export const widthOf = (characters: Iterable<string>): number => {
  let width = 0
  for (const character of characters) width += MARK.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return width
}
