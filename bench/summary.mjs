// What the figures say: ratios, geometric means, and which rows miss a bound.

/** The bounds that Nodewise is held to. Times are medians; warm ones are ratios. */
export const BOUNDS = {
  ortNodeMean: 0.6,
  ortNodeRow: 1.1,
  ortWebMean: 0.3,
  bestNative: 1.0,
  copy: 1.3,
  coldTime: 180,
  coldPeak: 150e6
}

export const cellOf = (row, system, threads) =>
  row.cells.find(cell => cell.system === system && cell.threads === threads)

/** Time of a cell's mode in milliseconds. */
export const timeOf = (cell, mode, by) => cell?.modes?.[mode]?.[by]

/** With an output made beforehand, where the system can (of Nodewise, in the heap); else with a fresh one. */
export const bestTime = (cell, by) => timeOf(cell, 'heap', by) ?? timeOf(cell, 'array', by) ?? timeOf(cell, 'fresh', by)

const defined = values => values.filter(value => value !== undefined)

/** The fastest native peer that is held to at most these threads: `{ system, time }`. */
export function bestNative(row, systems, threads, time) {
  const times = systems
    .filter(system => system.native)
    .flatMap(({ id, title, threads: able }) => {
      const value = time(cellOf(row, id, able.includes(threads) ? threads : 1))
      return value === undefined ? [] : [{ system: title, time: value }]
    })
  return times.length === 0 ? undefined : times.reduce((a, b) => (b.time < a.time ? b : a))
}

/**
 * Nodewise's time over each peer's at equal threads: `{ 'ort-node', 'ort-web', best, bound }`, undefined where one is
 * missing.
 */
export function ratios(row, systems, threads, by, time = cell => bestTime(cell, by)) {
  const own = time(cellOf(row, 'nodewise', threads))
  const over = other => (own === undefined || other === undefined ? undefined : own / other)
  return {
    'ort-node': over(time(cellOf(row, 'ort-node', threads))),
    'ort-web': over(time(cellOf(row, 'ort-web', threads))),
    best: over(bestNative(row, systems, threads, time)?.time),
    bound: over(row.bound?.[by])
  }
}

const geometricMean = values =>
  values.length === 0 ? undefined : Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)

/** What Nodewise is compared with, and the words for it. */
export const PEERS = { 'ort-node': 'ORT node', 'ort-web': 'ORT web', best: 'best native', bound: 'bound' }

const GROUPS = [
  ['table an initializer', row => row.table === 'initializer'],
  ['  of these, int64 indices', row => row.table === 'initializer' && row.indexType === 'int64'],
  ['  of these, int32 indices', row => row.table === 'initializer' && row.indexType === 'int32'],
  ['table an input', row => row.table === 'input']
]

const OUTPUTS = { preallocated: by => cell => bestTime(cell, by), fresh: by => cell => timeOf(cell, 'fresh', by) }

function meansOf(rows, systems, threadCounts, by) {
  return GROUPS.flatMap(([group, holds]) =>
    Object.entries(OUTPUTS).flatMap(([outputs, timing]) =>
      threadCounts.map(threads => {
        const all = rows.filter(holds).map(row => ratios(row, systems, threads, by, timing(by)))
        const means = Object.fromEntries(
          Object.keys(PEERS).map(peer => [peer, geometricMean(defined(all.map(ratio => ratio[peer])))])
        )
        return { group, outputs, threads, rows: all.filter(({ best }) => best !== undefined).length, ...means }
      })
    )
  )
}

function missesOfRows(rows, systems, threadCounts, by) {
  return rows
    .filter(row => row.table === 'initializer')
    .flatMap(row =>
      threadCounts.flatMap(threads => {
        const ratio = ratios(row, systems, threads, by)
        const best = bestNative(row, systems, threads, cell => bestTime(cell, by))
        const miss = (value, bound, what) => (value > bound ? [{ row: row.name, threads, value, bound, what }] : [])
        return [
          ...miss(ratio['ort-node'], BOUNDS.ortNodeRow, 'of ORT node'),
          ...miss(ratio.best, BOUNDS.bestNative, `of the best native peer, ${best?.system}`),
          ...(row.blocks && threads === 1 ? miss(ratio.bound, BOUNDS.copy, 'of the copy bound') : [])
        ]
      })
    )
}

function missesOfMeans(means) {
  const bounds = { 'ort-node': BOUNDS.ortNodeMean, 'ort-web': BOUNDS.ortWebMean, best: BOUNDS.bestNative }
  return means
    .filter(({ group, outputs }) => group === GROUPS[0][0] && outputs === 'preallocated')
    .flatMap(mean =>
      Object.entries(bounds)
        .filter(([peer, bound]) => mean[peer] > bound)
        .map(([peer, bound]) => ({
          row: 'geometric mean',
          threads: mean.threads,
          value: mean[peer],
          bound,
          what: `of ${PEERS[peer]}`
        }))
    )
}

const missesOfCold = (cold, by) =>
  cold.flatMap(row =>
    row.cells
      .filter(({ name }) => name === 'nodewise run')
      .flatMap(cell => [
        ...(cell[by] > BOUNDS.coldTime ? [{ row: row.name, value: cell[by], bound: BOUNDS.coldTime, what: 'ms' }] : []),
        ...(cell.peak > BOUNDS.coldPeak
          ? [{ row: row.name, value: cell.peak / 1e6, bound: BOUNDS.coldPeak / 1e6, what: 'MB' }]
          : [])
      ])
  )

/** Cells that could not be measured, and why. */
const failuresOf = (rows, cold) => [
  ...rows.flatMap(row => row.cells.filter(cell => cell.error).map(cell => ({ row: row.name, ...cell }))),
  ...cold.flatMap(row =>
    row.cells.filter(cell => cell.error).map(({ name, error }) => ({ row: row.name, system: name, error }))
  )
]

/** Everything that follows from the figures: `{ means, misses, failures, wrong }`. */
export function judge(rows, cold, systems, { threadCounts, by }) {
  const means = meansOf(rows, systems, threadCounts, by)
  return {
    means,
    misses: [...missesOfMeans(means), ...missesOfRows(rows, systems, threadCounts, by), ...missesOfCold(cold, by)],
    failures: failuresOf(rows, cold),
    wrong: [...rows, ...cold].filter(row => row.wrong).map(row => row.name)
  }
}
