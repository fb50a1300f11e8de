import { fail } from '../errors.ts'
import { requireOptions } from '../suggest.ts'
import { checkRunOptions } from './options.ts'
import { type Fetches, isFetches } from './outputs.ts'

/** No options, which need no look. */
export const NO_OPTIONS = {}

/**
 * What a run is to fetch, and its options, either of which may be the second argument. Callers in JavaScript may give
 * anything.
 * @throws NodewiseError `bad-usage` for what is neither, for options that cannot be, and for inputs that are no object
 */
export function argumentsOf<Options extends object>(
  feeds: unknown,
  second: Fetches | Options | undefined,
  options: Options
): [Fetches | undefined, Options] {
  requireFeeds(feeds)
  requireOptions(options)
  if (second !== undefined && !isObject(second))
    fail('bad-usage', `a run takes what it is to fetch, or options, not ${kindOf(second)}`)
  const fetches = second === undefined || isFetches(second) ? second : undefined
  const own = fetches === second ? options : (second as Options)
  if (own !== NO_OPTIONS) checkRunOptions(own)
  return [fetches, own]
}

/** @throws NodewiseError `bad-usage` for inputs that are no object */
export function requireFeeds(feeds: unknown): void {
  if (!isObject(feeds)) fail('bad-usage', `the inputs of a run are an object of values by name, not ${kindOf(feeds)}`)
}

const isObject = (given: unknown): boolean => typeof given === 'object' && given !== null

const kindOf = (given: unknown): string => (given === null ? 'null' : typeof given)
