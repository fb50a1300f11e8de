/** What the fuzzer drives, bundled into one file when it starts, so that it always meets the sources as they are. */
export { callerType, neededInputs, readByPosition } from '../../src/cli/inputs/inputs.ts'
export { check, load, NodewiseError, InferenceSession, supportedOps, Tensor } from '../../src/index.ts'
export { numberedFiles } from '../../src/io/inputs.ts'
export { DTYPES } from '../../src/tensor/dtype.ts'
export { allocate } from '../../src/tensor/tensor.ts'
