type Point = readonly [x: number, y: number]

/** A rectangle rotated around its centre by an angle in radians, clockwise where y points down. */
export interface RotatedBox {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly angle: number
}

/** Intersection over union; 0 where a box has no area. */
export function rotatedOverlap(a: RotatedBox, b: RotatedBox): number {
  const areas = [a.width * a.height, b.width * b.height]
  if (!(a.width > 0 && a.height > 0 && b.width > 0 && b.height > 0)) return 0
  // Coordinates relative to the middle of both boxes, since large coordinates would lose digits.
  const middle = [(a.x + b.x) / 2, (a.y + b.y) / 2] as const
  const shared = areaOf(clip(cornersOf(a, middle), cornersOf(b, middle)))
  return shared / (areas[0] + areas[1] - shared)
}

function cornersOf({ x, y, width, height, angle }: RotatedBox, middle: Point): Point[] {
  const cos = Math.cos(angle) / 2
  const sin = Math.sin(angle) / 2
  return (
    [
      [-1, -1],
      [1, -1],
      [1, 1],
      [-1, 1]
    ] as const
  ).map(([u, v]) => [
    x - middle[0] + u * width * cos - v * height * sin,
    y - middle[1] + u * width * sin + v * height * cos
  ])
}

/** The part of a convex polygon that lies inside another, cut edge by edge (Sutherland and Hodgman). */
function clip(polygon: readonly Point[], by: readonly Point[]): Point[] {
  let result = [...polygon]
  by.forEach((from, i) => {
    const to = by[(i + 1) % by.length]
    const side = ([x, y]: Point): number => (to[0] - from[0]) * (y - from[1]) - (to[1] - from[1]) * (x - from[0])
    const cut: Point[] = []
    result.forEach((end, k) => {
      const start = result[(k + result.length - 1) % result.length]
      const [before, after] = [side(start), side(end)]
      if (before < 0 !== after < 0) {
        const share = before / (before - after)
        cut.push([start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])])
      }
      if (after >= 0) cut.push(end)
    })
    result = cut
  })
  return result
}

/** The area of a polygon (shoelace formula). */
function areaOf(polygon: readonly Point[]): number {
  let sum = 0
  polygon.forEach(([x, y], i) => {
    const [nextX, nextY] = polygon[(i + 1) % polygon.length]
    sum += x * nextY - nextX * y
  })
  return Math.abs(sum) / 2
}
