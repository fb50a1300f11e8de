// What the bundler makes of these imports. Its own declarations (`vite/client`) would also give `import.meta.env` to
// the sources of the library, which are checked in the same program and run without the bundler.

declare module '*.css'

declare module '*?worker&url' {
  const url: string
  export default url
}
