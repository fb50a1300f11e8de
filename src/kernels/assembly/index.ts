export { zero } from './memory'
