import type { Page } from 'playwright-core'

/**
 * What no longer fits when every word is two fifths longer, as in other languages, and when a reader has set wider spacing,
 * as WCAG 1.4.12 has it: the page itself where it has to be scrolled to the side, and names that are cut off. The page is
 * left as it was.
 */
export function stretchText(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = []
    const root = document.documentElement
    const look = (how: string) => {
      if (root.scrollWidth > window.innerWidth) {
        const isBeyond = (element: Element) => element.getBoundingClientRect().right > window.innerWidth
        const beyond = [...document.querySelectorAll('body *')].filter(isBeyond)
        const [widest] = beyond.filter((one) => !beyond.some((other) => other !== one && one.contains(other)))
        found.push(`${how}, ${window.innerWidth} pixels, too wide: ${widest?.outerHTML.slice(0, 200)}`)
      }
      for (const element of document.querySelectorAll('main button, main label, main h1, main h2')) {
        const { overflowX, textOverflow } = getComputedStyle(element)
        const isCut = element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 1
        if (isCut && overflowX !== 'auto' && textOverflow !== 'ellipsis') {
          found.push(`${how}, ${window.innerWidth} pixels, cut off: ${element.outerHTML.slice(0, 200)}`)
        }
      }
    }
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const before = new Map<Node, string | null>()
    while (texts.nextNode() !== null) before.set(texts.currentNode, texts.currentNode.nodeValue)
    for (const [node, text] of before) {
      node.nodeValue = (text ?? '').replaceAll(
        /\p{L}{2,}/gu,
        (word) => word + word.slice(-Math.ceil(word.length * 0.4)),
      )
    }
    look('longer words')
    for (const [node, text] of before) node.nodeValue = text
    const styles = new Map<HTMLElement, string>()
    for (const element of document.querySelectorAll<HTMLElement>('body *')) {
      styles.set(element, element.style.cssText)
      element.style.lineHeight = '1.5'
      element.style.letterSpacing = '0.12em'
      element.style.wordSpacing = '0.16em'
    }
    look('wider spacing')
    for (const [element, text] of styles) element.style.cssText = text
    return found
  })
}
