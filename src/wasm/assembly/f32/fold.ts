/** Adds blocks to the image that they were cut from, a plane at a time: x is [planes][block], y [planes][elements]. */
@unmanaged
export class FoldArguments {
  x: usize
  /** Runs of neighbours in a plane of x: the place of the first, that in a plane of y, and how many, 32 bits each. */
  runs: usize
  y: usize
  block: u32
  elements: u32
  count: u32
  /** From one element of y to the next one of a run. */
  step: u32
}

/** Adds planes `from … to - 1`. An element gets what is added to it in the order of the runs. */
export function fold(args: FoldArguments, from: u32, to: u32): void {
  const end = args.runs + <usize>args.count * 12
  for (let plane = <usize>from; plane < <usize>to; plane++) {
    const x = args.x + ((plane * args.block) << 2)
    const y = args.y + ((plane * args.elements) << 2)
    memory.fill(y, 0, (<usize>args.elements) << 2)
    for (let run = args.runs; run < end; run += 12) {
      const source = x + ((<usize>load<u32>(run)) << 2)
      const target = y + ((<usize>load<u32>(run, 4)) << 2)
      const length = (<usize>load<u32>(run, 8)) << 2
      if (args.step == 1) addLine(source, target, length)
      else addApart(source, target, length, (<usize>args.step) << 2)
    }
  }
}

/** Adds `length` bytes of float32 to others. */
// @ts-ignore: decorator
@inline
export function addLine(source: usize, target: usize, length: usize): void {
  let at: usize = 0
  for (; at + 16 <= length; at += 16) v128.store(target + at, f32x4.add(v128.load(target + at), v128.load(source + at)))
  for (; at < length; at += 4) store<f32>(target + at, load<f32>(target + at) + load<f32>(source + at))
}

// @ts-ignore: decorator
@inline
function addApart(source: usize, target: usize, length: usize, step: usize): void {
  for (const end = source + length; source < end; source += 4, target += step)
    store<f32>(target, load<f32>(target) + load<f32>(source))
}
