import { rotationLayout, type RotationParams } from '../../op-kit/rotation.ts'
import type { JobTemplate } from '../jobs.ts'
import { areFloat32, arrayOf, jobKernel, selectorFor, staged } from '../selector.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 7
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 12
/** Elements of a tile, which take about 0.1 ms. */
const TILE = 1 << 16

/** Rotary positions that a plan made one call of. */
export const selectRotation = selectorFor<RotationParams>(({ op, operands, parameters }) => {
  const { x, cos, sin } = operands
  if (!x || !cos || !sin || !areFloat32(operands) || x.data.length < MIN_ELEMENTS) return undefined
  const { interleaved, rowsFirst } = parameters
  const { batches, heads, length, size, half, perElement, angles } = rotationLayout(x.dims, cos.dims, rowsFirst)
  const inBlocks = [heads * length * size, length * size, size]
  const steps = [rowsFirst ? [heads * length * size, size, heads * size] : inBlocks, inBlocks, angles]
  const template: JobTemplate = {
    kernel: 'rotate',
    blocks: batches * heads * length,
    blockBytes: size * 4,
    tile: Math.ceil(TILE / size),
    work: x.data.length * ELEMENT_WORK,
    inputs: staged(3),
    outputStaging: 'whole',
    args: [
      ...[heads, length, size, half],
      ...steps.flat().map(step => step * 4),
      ...[interleaved, perElement].map(Number)
    ]
  }
  return {
    kernel: jobKernel(op, given => ({ template, inputs: [given.x!, given.cos!, given.sin!].map(arrayOf) }))
  }
})
