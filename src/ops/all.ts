import type { Op } from '../op-kit/define.ts'
import * as ops from './index.ts'

/** Every operator that is built in. */
export const ALL_OPS: readonly Op[] = Object.values<Op | readonly Op[]>(ops).flat()
