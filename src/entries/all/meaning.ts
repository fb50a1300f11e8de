import { CODES } from '../../check/codes.ts'
import { fail } from '../../errors.ts'
import type { Finding } from '../../graph/graph.ts'

/**
 * What a code of a finding means: a sentence or two, in Markdown.
 * @throws NodewiseError `bad-usage` for a code that no finding has
 */
export const meaningOf = (code: Finding['code']): string =>
  Object.hasOwn(CODES, code)
    ? CODES[code][0]
    : fail('bad-usage', `no finding has the code ${JSON.stringify(String(code))}`)
