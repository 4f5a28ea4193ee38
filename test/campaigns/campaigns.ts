import type { CampaignOptions, CampaignResult } from './campaign.ts'
import { runAlerts } from './alerts/alerts.ts'
import { runAuditKills } from './audit-kills/audit-kills.ts'
import { runAvailability } from './availability/availability.ts'
import { runCalls } from './calls/calls.ts'
import { runCompose } from './compose/compose.ts'
import { runContainer } from './container/container.ts'
import { runControlTokens } from './control-tokens/control-tokens.ts'
import { runCounts } from './counts.ts'
import { runDisconnects } from './disconnects.ts'
import { runExactness } from './exactness/exactness.ts'
import { runGateways } from './gateways/gateways.ts'
import { runOffboarding } from './gateways/offboarding.ts'
import { runOutage } from './gateways/outage.ts'
import { runPlaces } from './gateways/places.ts'
import { runRolling } from './gateways/rolling.ts'
import { runInvoices } from './invoices/invoices.ts'
import { runKills } from './kills.ts'
import { runLedgerKills } from './ledger-kills.ts'
import { runLifecycle } from './lifecycle.ts'
import { runMutants } from './mutants/mutants.ts'
import { runMutations } from './bodies/mutations.ts'
import { runPools } from './pools.ts'
import { runRealWeights } from './real-weights/real-weights.ts'
import { runRetention } from './retention.ts'
import { runRowKills } from './row-kills.ts'
import { runSamlMutations } from './saml/saml-mutations.ts'
import { runSchemas } from './schemas/schemas.ts'
import { runScim } from './scim/scim.ts'
import { runSinks } from './sinks/sinks.ts'
import { runPoolStructured, runStructured } from './structured/structured.ts'
import { runConnections } from './takedown/connections.ts'
import { runLeaving } from './takedown/leaving.ts'
import { runTakedown, runTakedownByMany } from './takedown/takedown.ts'
import { runTampers } from './tampers/tampers.ts'
import { runTransparency } from './transparency/transparency.ts'
import { runWeightsHeaders } from './weights-headers.ts'
import { runWindow } from './window.ts'

export type Campaign = {
  readonly about: string
  /** What one unit of `--count` is, and how many a full run has. */
  readonly unit: string
  readonly count: number
  run(options: CampaignOptions): Promise<CampaignResult>
}

export const campaigns: Readonly<Record<string, Campaign>> = {
  alerts: {
    about: 'events for a receiver that fails, hangs and restarts, by a sender that is killed; each arrives, in order',
    unit: 'events',
    count: 10_000,
    run: runAlerts,
  },
  'audit-kills': {
    about: 'who changes things, signs for the audit and deletes its old rows is killed; chain, tiles and notes agree',
    unit: 'kills',
    count: 10_000,
    run: runAuditKills,
  },
  availability: {
    about: 'months with outages by a script: what is reported is what the script has, to a hundredth of a percent',
    unit: 'outages',
    count: 200,
    run: runAvailability,
  },
  calls: {
    about:
      'open weights without a template for tools call them, write JSON and think; each answer is valid or says it was cut',
    unit: 'requests',
    count: 500,
    run: runCalls,
  },
  compose: {
    about: 'deploy/compose is brought up by docker compose as its page says; each part restarts, and no client notices',
    unit: 'rounds',
    count: 2,
    run: runCompose,
  },
  connections: {
    about: 'thousands of connections are held open, bodies come a byte at a time; who is new is served all the while',
    unit: 'slow bodies',
    count: 500,
    run: runConnections,
  },
  container: {
    about: 'the image is built and run with a read-only root; it answers, ends what is under way, and keeps its data',
    unit: 'rounds',
    count: 3,
    run: runContainer,
  },
  'control-tokens': {
    about: 'texts that nobody harmless would write, on every template at hand; none becomes a control token',
    unit: 'requests',
    count: 40_000,
    run: runControlTokens,
  },
  counts: {
    about: 'conversations that nobody wrote; what is counted is what is billed, in both formats and the ledger',
    unit: 'conversations',
    count: 500,
    run: runCounts,
  },
  disconnects: {
    about: 'clients leave at any moment; each admitted request has one row, and nothing runs on for nobody',
    unit: 'clients',
    count: 1_000,
    run: runDisconnects,
  },
  exactness: {
    about: 'random usages and prices, budgets under load, stops, kills, repetitions; every sum is right to the unit',
    unit: 'requests',
    count: 1_000_000,
    run: runExactness,
  },
  gateways: {
    about: 'three services share limits, budgets and keys on one PostgreSQL; together they keep to them',
    unit: 'rounds',
    count: 10,
    run: runGateways,
  },
  invoices: {
    about: 'a year of invoices with new prices, voids, credits and prepayments; each is what was used, to the unit',
    unit: 'organizations',
    count: 50,
    run: runInvoices,
  },
  kills: {
    about: 'the engine child dies under load; every answer is whole or says that it broke off',
    unit: 'rounds',
    count: 50,
    run: runKills,
  },
  ledger: {
    about: 'the service, and the database server, are killed under load; every acknowledged answer has its one row',
    unit: 'kills',
    count: 200,
    run: runLedgerKills,
  },
  mutants: {
    about:
      'the code of sign-in and directories is changed in one place at a time; its tests notice four of five at least',
    unit: 'changes',
    count: 200,
    run: runMutants,
  },
  mutations: {
    about: 'requests damaged in every way; each is refused in the right form, and nothing ends or grows',
    unit: 'requests',
    count: 20_000,
    run: runMutations,
  },
  leaving: {
    about: 'clients leave while slow weights compute their prompts; the engine stays, and each request has its row',
    unit: 'clients',
    count: 1_000,
    run: runLeaving,
  },
  lifecycle: {
    about: 'the service is stopped and killed under load; nothing that was acknowledged is lost',
    unit: 'rounds',
    count: 20,
    run: runLifecycle,
  },
  offboarding: {
    about: 'a directory switches people off while three gateways answer their keys; all of it ends within a second',
    unit: 'people',
    count: 1_000,
    run: runOffboarding,
  },
  outage: {
    about: 'PostgreSQL is away under load, refuses and hangs; every acknowledged answer has its one row soon after',
    unit: 'seconds',
    count: 60,
    run: runOutage,
  },
  places: {
    about: 'up to twelve gateways share places; who waits for answers is not refused, and no place is given twice',
    unit: 'requests each',
    count: 200,
    run: runPlaces,
  },
  'pool-structured': {
    about: 'schemas and tools that nobody wrote, through a pool of a real llama-server; an answer that ends is valid',
    unit: 'requests',
    count: 3_000,
    run: runPoolStructured,
  },
  pools: {
    about: 'prompts that are counted, answers whose replicas are cut off, killed and left, in pools of stand-ins',
    unit: 'prompts and departures',
    count: 1_000,
    run: runPools,
  },
  'real-weights': {
    about: "open weights beside llama.cpp's own server; the same texts, counts and log-probabilities, and all promises",
    unit: 'prompts',
    count: 200,
    run: runRealWeights,
  },
  retention: {
    about:
      'prompts that are answered, streamed, refused and left; none of their text is in memory or on the disk after',
    unit: 'prompts',
    count: 10_000,
    run: runRetention,
  },
  rolling: {
    about: 'two gateways behind HAProxy as in deploy/compose are restarted in turn under load; no client notices',
    unit: 'restarts',
    count: 10,
    run: runRolling,
  },
  rows: {
    about: 'the program that writes the ledger is killed while it writes; each row it said to be there is there once',
    unit: 'kills',
    count: 10_000,
    run: runRowKills,
  },
  schemas: {
    about: 'the test suite of JSON Schema, schemas of packages and made-up ones; no grammar takes what is not valid',
    unit: 'made-up schemas',
    count: 2_000,
    run: runSchemas,
  },
  scim: {
    about:
      'a directory speaks to three gateways that are killed; members, groups and keys are as a plain model has them',
    unit: 'things said',
    count: 5_000,
    run: runScim,
  },
  sinks: {
    about: 'the audit for receivers that fail, hang and are away, by a sender that is killed; all arrives, in order',
    unit: 'rows',
    count: 20_000,
    run: runSinks,
  },
  structured: {
    about: 'schemas and tools that nobody wrote; an answer that ends is valid, and one that is cut says so',
    unit: 'requests',
    count: 3_000,
    run: runStructured,
  },
  takedown: {
    about: 'one key attacks in every way known beside the steady clients of another, who notice nothing',
    unit: 'attacks',
    count: 10_000,
    run: runTakedown,
  },
  'takedown-by-many': {
    about: 'the same attacks, by keys of several organizations',
    unit: 'attacks',
    count: 10_000,
    run: runTakedownByMany,
  },
  saml: {
    about:
      'answers of providers that speak SAML are changed after they were signed; none says anything else than was signed',
    unit: 'mutations',
    count: 100_000,
    run: runSamlMutations,
  },
  tampers: {
    about: 'the audit is changed by hand and by who has every secret; a checkpoint that lies elsewhere finds each',
    unit: 'tampers',
    count: 1_000,
    run: runTampers,
  },
  transparency: {
    about: 'checkpoints, proofs and tiles of the audit, checked by the code of Go’s checksum database',
    unit: 'sizes',
    count: 1_000,
    run: runTransparency,
  },
  weights: {
    about: 'headers of weights damaged at random; each is taken or refused in words, soon and in little memory',
    unit: 'headers',
    count: 1_000_000,
    run: runWeightsHeaders,
  },
  window: {
    about: 'a prompt that fills the whole window of tycho-1.0 is answered, and one token more is refused',
    unit: 'tokens',
    count: 125_000,
    run: runWindow,
  },
}
