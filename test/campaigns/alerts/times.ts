/** A campaign does not wait as long as a service may: a killed process is followed soon, and failures by another attempt. */
export const deliveryTimes = { retryMsMin: 5, leaseMs: 600, lookEveryMs: 20 }

export const sealingKey = new Uint8Array(32).fill(9)
