import { f32, holdCalls, i64, one, t } from '../hostile.ts'

const HUGE = 2 ** 40
const none = (...dims: number[]) => t('float32', dims)
const noIndices = (...dims: number[]) => t('int64', dims)

holdCalls(
  [
    ['OneHot', 11, [noIndices(HUGE, 0), one(2), f32(0, 1)], { axis: 1 }, `float32[${HUGE},2,0]`],
    ['GatherND', 12, [none(HUGE, 0), noIndices(HUGE, 0, 1)], { batch_dims: 1 }, `float32[${HUGE},0]`],
    ['GatherND', 12, [none(3, 0), i64(7)], {}, 'index-out-of-range'],
    ['TensorScatter', 24, [none(1, HUGE, 0), none(1, HUGE, 0)], { axis: 1 }, `float32[1,${HUGE},0]`],
    ['TensorScatter', 24, [none(HUGE, 0), none(HUGE, 0)], { axis: 1 }, `float32[${HUGE},0]`],
    ['TensorScatter', 24, [none(1, 2, 0), none(1, 2, 0), i64(1)], { axis: 1 }, 'index-out-of-range'],
    ['ov:SegmentMax', 16, [none(1, 0), i64(0), one(HUGE)], { fill_mode: 'ZERO' }, `float32[${HUGE},0]`],
    ['ov:SegmentMax', 16, [none(1, 0), i64(-1), one(HUGE)], { fill_mode: 'ZERO' }, 'value-out-of-range']
  ],
  'an empty result at once where data with huge dims are empty, or an error'
)
