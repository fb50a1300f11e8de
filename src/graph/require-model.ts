import { fail } from '../errors.ts'

/**
 * Callers in JavaScript may give anything for a model: a path, or a promise that they forgot to wait for.
 * @throws NodewiseError `bad-usage` for what is no model
 */
export function requireModel(model: unknown): void {
  if (typeof model === 'object' && model !== null && 'graph' in model) return
  const what = model instanceof Promise ? 'a promise, which has to be awaited' : model === null ? 'null' : typeof model
  fail('bad-usage', `a model is what \`load\` gives, not ${what === 'object' ? 'another object' : what}`)
}
