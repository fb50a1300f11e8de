import { signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'nodewise-theme'

const stored = (): Theme => {
  try {
    const value = localStorage.getItem(KEY)
    return value === 'light' || value === 'dark' ? value : 'system'
  } catch {
    return 'system'
  }
}

const theme = signal<Theme>(stored())
/** Counts changes of the colours, the system's own included. */
export const themeChanged = signal(0)

export const isDark = (): boolean =>
  theme.value === 'dark' || (theme.value === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)

/** Changes to the other of light and dark. */
export function changeTheme(): void {
  theme.value = isDark() ? 'light' : 'dark'
  document.documentElement.dataset.theme = theme.value
  try {
    localStorage.setItem(KEY, theme.value)
  } catch {
    // A page without storage forgets it.
  }
  themeChanged.value++
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => themeChanged.value++)
