import { holdCalls, i64, t } from '../hostile.ts'

const HUGE = 2 ** 40
const none = t('float32', [HUGE, 0])
const images = t('float32', [1, HUGE, 0])
const noCrops = [i64(1, 1, 1), i64(0, 0, 0), i64(0, 0, 0)]
/** 30 spatial dims of size 0. */
const deep = t('float32', [1, 4, ...new Array<number>(30).fill(0)])

holdCalls(
  [
    ['Concat', 13, [none, none], { axis: 1 }, `float32[${HUGE},0]`],
    ['ov:Roll', 7, [none, i64(1), i64(0)], {}, `float32[${HUGE},0]`],
    ['ov:BatchToSpace', 2, [images, ...noCrops], {}, `float32[1,${HUGE},0]`],
    ['ov:SpaceToBatch', 2, [images, ...noCrops], {}, `float32[1,${HUGE},0]`],
    ['ov:SpaceToDepth', 1, [deep], { block_size: HUGE, mode: 'blocks_first' }, 'limit-exceeded'],
    ['ov:DepthToSpace', 1, [deep], { block_size: HUGE, mode: 'blocks_first' }, 'limit-exceeded']
  ],
  'an empty result at once where data with huge dims are empty, or an error'
)
