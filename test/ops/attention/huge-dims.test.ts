import { holdCalls, t } from '../hostile.ts'

const HUGE = 2 ** 40
const none = (...dims: number[]) => t('float32', dims)
const ONE_HEAD = { q_num_heads: 1, kv_num_heads: 1, update_rule: 'linear' }
const thrice = (...dims: number[]) => [none(...dims), none(...dims), none(...dims)]

holdCalls(
  [
    ['LinearAttention', 27, thrice(HUGE, 1, 0), ONE_HEAD, `float32[${HUGE},1,0]`],
    ['LinearAttention', 27, thrice(HUGE, 0, 2), ONE_HEAD, `float32[${HUGE},0,2]`],
    ['com.microsoft:HyperConnectionPreMix', 1, [none(0, 2, HUGE), none(0, 2)], {}, `float32[0,${HUGE}]`],
    [
      'com.microsoft:HyperConnectionPostMix',
      1,
      [none(0, 2, HUGE), none(0, HUGE), none(0, 2)],
      {},
      `float32[0,2,${HUGE}]`
    ]
  ],
  'an empty result at once where data with huge dims are empty'
)
