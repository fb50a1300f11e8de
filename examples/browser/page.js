// Says which language words are in, as they are typed.
import { InferenceSession, Tensor } from 'nodewise'

const session = await InferenceSession.create('models/language.onnx')
const [form] = document.forms
const output = document.querySelector('output')

async function answer() {
  const words = form.elements.words.value
    .toLowerCase()
    .split(/\s+/)
    .filter(word => word !== '')
  if (words.length === 0) return
  const { language } = await session.run({ words: new Tensor('string', words, [words.length]) })
  output.textContent = language.data.join(', ')
}

form.addEventListener('submit', event => event.preventDefault())
form.addEventListener('input', answer)
await answer()
