// What `large.mjs` runs in the page. Each function is sent as text: it sees nothing of this file but itself.

/** Notes when the first picture and all facts are there, in milliseconds after a file was chosen. */
export function openAndMeasure() {
  const measured = (globalThis.measured = {})
  let chosen = 0
  document.querySelector('input[type=file]').addEventListener(
    'change',
    () => {
      chosen = performance.now()
      const watch = () => {
        const isOpen = document.querySelector('.work canvas') !== null
        // Two frames later the picture is on the screen.
        if (isOpen && !measured.seen) {
          measured.seen = true
          requestAnimationFrame(() =>
            requestAnimationFrame(() => {
              measured.first = performance.now() - chosen
            })
          )
        }
        if (isOpen && !document.querySelector('.busy')) measured.facts = performance.now() - chosen
        else setTimeout(watch, 5)
      }
      watch()
    },
    true
  )
}

/** Drags the picture about and zooms it for some seconds: times between frames, and what the page works in each. */
export async function pan(seconds) {
  const canvas = document.querySelector('.graph canvas')
  const { x, y, width, height } = canvas.getBoundingClientRect()
  const middle = { clientX: x + width / 2, clientY: y + height / 2, bubbles: true, cancelable: true }
  canvas.setPointerCapture = () => undefined
  const fire = (type, dx, dy, buttons) =>
    canvas.dispatchEvent(
      new PointerEvent(type, {
        ...middle,
        clientX: middle.clientX + dx,
        clientY: middle.clientY + dy,
        pointerId: 1,
        buttons
      })
    )
  const channel = new MessageChannel()
  // A message comes after the frame has been drawn and handed over.
  const afterFrame = () =>
    new Promise(resolve => {
      channel.port1.onmessage = () => resolve(performance.now())
      channel.port2.postMessage(0)
    })
  const [gaps, works] = [[], []]
  fire('pointerdown', 0, 0, 1)
  let last = await new Promise(requestAnimationFrame)
  const end = last + 1000 * seconds
  for (let i = 0; last < end; i++) {
    fire('pointermove', 200 * Math.sin(i / 12), 150 * Math.sin(i / 9), 1)
    if (i % 3 === 0)
      canvas.dispatchEvent(new WheelEvent('wheel', { ...middle, deltaY: i % 240 < 120 ? 12 : -12, ctrlKey: true }))
    const now = await new Promise(requestAnimationFrame)
    const started = performance.now()
    works.push((await afterFrame()) - started)
    gaps.push(now - last)
    last = now
  }
  fire('pointerup', 200, 150, 0)
  const part = (list, share) =>
    list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(share * list.length))]
  return {
    count: gaps.length,
    median: part(gaps, 0.5),
    late: part(gaps, 0.95),
    worst: part(gaps, 1),
    work: { median: part(works, 0.5), worst: part(works, 1) }
  }
}
