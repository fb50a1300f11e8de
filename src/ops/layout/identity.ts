import { defineOp } from '../../op-kit/define.ts'

/**
 * Returns its input: ONNX Identity (sequences since 14, optionals since 16), com.microsoft SampleOp-1, OpenVINO
 * Identity-16.
 */
export const identity = defineOp({
  name: 'Identity',
  operands: { input: 'any' },
  onnx: [
    { since: 1, bind: {} },
    { domain: 'com.microsoft', type: 'SampleOp', since: 1, bind: {} }
  ],
  openvino: [{ since: 16, bind: {} }],
  shape: ({ input }) => [input],

  run({ input }, _, call) {
    call.give(0, input)
  }
})
