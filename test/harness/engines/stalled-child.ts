// A child that answers as a good one does and never gets its weights loaded; or one that dies over them.

const [mode] = [process.env['LANG']]
process.on('disconnect', () => process.exit(0))
process.on('message', ({ kind, settings }: { kind: string; settings?: { gpu: string; copiesWeights: boolean } }) => {
  if (kind === 'ping') process.send?.({ kind: 'pong', steps: 0, isBusy: false, drafts: { drafted: 0, accepted: 0 } })
  if (kind !== 'load') return
  if (mode === 'dies' || (mode === 'dies-on-card' && settings?.gpu !== 'off')) process.exit(3)
  if (mode === 'dies-on-card') console.log(`weights are ${settings?.copiesWeights ? 'copied' : 'mapped'}`)
  // Saying the same again and again is no progress.
  setInterval(() => process.send?.({ kind: 'loading', progress: 0.5 }), 50)
})
