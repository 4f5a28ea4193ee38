/** Lowest first. A file may import its own folder and any folder on a lower floor; never sideways, never up. */
export const floors = [
  ['core', 'lib'],
  ['config', 'db', 'grammar', 'chat-format', 'protocols', 'telemetry'],
  ['accounts', 'billing', 'clients', 'engines', 'limits', 'scheduling'],
  ['alerts', 'models'],
  ['inference'],
  ['http'],
  ['service'],
  ['cli'],
]

// A test may look anywhere: it joins parts that the product joins elsewhere.
const test = '\\.test\\.ts$'

const onlyDown = floors.flatMap((folders, floor) =>
  folders.map((folder) => ({
    name: `${folder}-imports-only-down`,
    severity: 'error',
    from: { path: `^src/${folder}/`, pathNot: test },
    to: { path: '^src/', pathNot: `^src/(${[folder, ...floors.slice(0, floor).flat()].join('|')})/` },
  })),
)

export default {
  forbidden: [
    ...onlyDown,
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    // Neither packages nor Node's own modules: the core loads anywhere, including an engine's child.
    {
      name: 'core-is-pure',
      severity: 'error',
      from: { path: '^src/core/', pathNot: test },
      to: { pathNot: '^src/core/' },
    },
    {
      name: 'llama-only-in-its-child',
      severity: 'error',
      from: { pathNot: '^src/engines/llama/child/' },
      to: { path: '(^|/)node-llama-cpp(/|$)' },
    },
    {
      name: 'fastify-only-at-the-door',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/http/', test] },
      to: { path: '(^|/)fastify(/|$)' },
    },
    {
      name: 'child-processes-only-under-supervision',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          '^src/(engines/llama/(supervisor|launch-child|keep-children-compiled)|models/fleet/pools/managed/(guard|managed-replica))\\.ts$',
          // A command that signs lives for one signature, and for half a minute at most.
          '^src/accounts/transparency/signing-keys\\.ts$',
          test,
        ],
      },
      to: { path: '^(node:)?(child_process|cluster)$' },
    },
    // The lint rules on `process.env` and its kind see only the global name.
    {
      name: 'process-is-not-imported',
      severity: 'error',
      from: { path: '^src/', pathNot: test },
      to: { path: '^(node:)?process$' },
    },
  ],
  options: {
    // The compiler's JavaScript interface, which is the default parser, is not part of TypeScript 7.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
  },
}
