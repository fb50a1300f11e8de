/** What part of the drawing is seen: `scale` pixels a unit, and the pixel at which the drawing's corner lies. */
export interface Camera {
  x: number
  y: number
  scale: number
}

export interface Rect {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
}

const ZOOM = { least: 0.004, most: 4 } as const

/** The camera that shows a rectangle as a whole, no larger than `most`. */
export function fitted(rect: Rect, width: number, height: number, most = 1, margin = 32): Camera {
  const scale = Math.min(
    most,
    Math.max(ZOOM.least, Math.min((width - 2 * margin) / rect.w, (height - 2 * margin) / rect.h))
  )
  return {
    scale,
    x: width / 2 - (rect.x + rect.w / 2) * scale,
    y: height / 2 - (rect.y + rect.h / 2) * scale
  }
}

/** Zooms about a pixel, which keeps its place. */
export function zoomed({ x, y, scale }: Camera, factor: number, atX: number, atY: number): Camera {
  const next = Math.min(ZOOM.most, Math.max(ZOOM.least, scale * factor))
  const by = next / scale
  return { scale: next, x: atX - (atX - x) * by, y: atY - (atY - y) * by }
}

/** Between two cameras; `t` from 0 to 1. Scales change by factors. */
export function between(a: Camera, b: Camera, t: number): Camera {
  const scale = a.scale * (b.scale / a.scale) ** t
  // The centre of the movement: a point that both map to the same pixel would stay; others go straight.
  const part = a.scale === b.scale ? t : (scale - a.scale) / (b.scale - a.scale)
  return { scale, x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part }
}
