/**
 * Rewrites the calls of `append` and `pop(0)` on a list that a namespace holds.
 *
 * The template engine has no methods of lists, so such a template would fail on
 * the first tool call. Members of a namespace can be assigned instead; other
 * lists are left as they are, because assignments do not leave a loop.
 */
export function rewriteListMethods(source: string): string {
  const append = /\{%(-?)\s*(?:set\s+\w+\s*=|do)\s*(\w+\.\w+)\.append\(((?:[^()%]|\([^()]*\))*)\)\s*(-?)%\}/gu
  const pop = /\{%(-?)\s*set\s+(\w+)\s*=\s*(\w+\.\w+)\.pop\(0\)\s*(-?)%\}/gu
  return source
    .replace(append, '{%$1 set $2 = $2 + [$3] $4%}')
    .replace(pop, '{%$1 set $2 = $3[0] -%}{%- set $3 = $3[1:] $4%}')
}
