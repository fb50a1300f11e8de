import { node } from '../../fixtures/onnx.ts'

/** The domain of Gradient. */
export const DOMAIN = 'ai.onnx.preview.training'

/** A Gradient of `y` by `xs`, taken at the inputs. */
export const gradient = (
  xs: readonly string[],
  y: string,
  outputs: readonly string[],
  zs: readonly string[] = [],
  inputs: readonly string[] = [...xs, ...zs]
): object =>
  node('Gradient', inputs, outputs, { xs: { strings: xs }, y, ...(zs.length > 0 && { zs: { strings: zs } }) }, DOMAIN)
