import { CODES, shortMeaning } from '../../check/codes.ts'
import type { FindingCode } from '../../graph/graph.ts'
import { didYouMean } from '../../suggest.ts'
import { badUsage, EXIT } from '../failure.ts'
import { print, styleOf, table, type Terminal } from '../terminal.ts'

/** The home of this program, as in package.json. */
export const HOME = 'https://github.com/nodewise/nodewise'

/** Where the page about checking explains a code. */
export const helpUri = (code: FindingCode): string => `${HOME}/blob/main/docs/checking.md#${code}`

/**
 * A code by its name.
 * @throws NodewiseError `bad-usage` where there is no such code
 */
export function codeNamed(text: string): FindingCode {
  if (Object.hasOwn(CODES, text)) return text as FindingCode
  return badUsage(`there is no code ${JSON.stringify(text)}${didYouMean(text, Object.keys(CODES))}`)
}

/** `nodewise explain [codes…]` */
export function explain(names: readonly string[], { json = false }: { json?: boolean }, terminal: Terminal): number {
  const codes = names.length === 0 ? (Object.keys(CODES) as FindingCode[]) : names.map(codeNamed)
  if (json) {
    const list = codes.map(code => {
      const [meaning, example] = CODES[code]
      return { code, meaning, example, helpUri: helpUri(code) }
    })
    print(terminal, JSON.stringify(list, null, 2))
    return EXIT.yes
  }
  const { bold, dim } = styleOf(terminal)
  if (names.length === 0) print(terminal, table(codes.map(code => [code, shortMeaning(code)])).join('\n'))
  else {
    const texts = codes.map(code => {
      const [meaning, example] = CODES[code]
      return [bold(code), `  ${meaning}`, `  Example: ${example}`, `  ${dim(helpUri(code))}`].join('\n')
    })
    print(terminal, texts.join('\n\n'))
  }
  return EXIT.yes
}
