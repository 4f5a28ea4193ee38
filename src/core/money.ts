/** A million pico-units are a micro-unit, and a million micro-units a unit of the installation's currency. */
export const picosPerMicro = 1_000_000n

/** The nearest whole number of micro-units, a half away from zero; for what is shown, never for what is added up. */
export function roundToMicros(picos: bigint): bigint {
  const half = picos < 0n ? -picosPerMicro / 2n : picosPerMicro / 2n
  return (picos + half) / picosPerMicro
}

/** The least whole number of micro-units that covers an amount. */
export function coveringMicros(picos: bigint): bigint {
  // A division of integers leaves out what is behind the point, which below zero rounds upwards.
  return (picos > 0n ? picos + picosPerMicro - 1n : picos) / picosPerMicro
}

/** An amount as a decimal number of micro-units, exact: `12`, `0.3` or `-4.000001`. */
export function toMicrosText(picos: bigint): string {
  const size = picos < 0n ? -picos : picos
  const rest = String(size % picosPerMicro)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return `${picos < 0n ? '-' : ''}${size / picosPerMicro}${rest === '' ? '' : `.${rest}`}`
}
