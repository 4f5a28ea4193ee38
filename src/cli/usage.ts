import { budgetFields, limitFields } from '../core/limit-fields.ts'
import { describeOptions } from './limits/field-options.ts'

/** What `odyssey --help` prints: for each command a line or more, which begin with its name. */
export const usage = `Usage: odyssey <command>, odyssey <command> --help, odyssey --version

  serve                                Start the service
  keys create --name NAME              Make an API key: --expires 30d, --models LIST, --endpoints LIST,
                                       --addresses LIST, --priority CLASS, --organization ID,
                                       --project ID, --owner ID or --service-account ID
  keys list                            List the keys
  keys update ID                       Change a key's name or rules, with the same options
  keys rotate ID [--overlap 7d]        Replace a key; the old one works on for as long as that
  keys disable ID, keys enable ID      Refuse a key for a while
  keys revoke ID                       End a key
  organizations create --name NAME     Make an organization; also list, rename, disable and enable
  organizations prioritize ID CLASS    Say how soon its requests have their turn: interactive, standard or batch
  projects create --name NAME          Make a project; also list, rename, archive and restore
  projects keys ID --of OWNERS         Say whose new keys may be in a project: anyone or service-accounts
  service-accounts create --name NAME  Make an account of a program, with --project ID, whose keys are no person's;
                                       also list, disable, enable and remove
  members create --email E --role ROLE Make a member; also list, role, remove, show and hide
  roles create --name NAME             Make a role that is a part of a built-in one: --base ROLE, --permissions LIST;
                                       also list, update and remove
  owners link [--member ID]            Make the link by which the first owner signs in, or an owner who cannot any more;
                                       with --end-others it ends what they could sign in with before
  sessions list --member ID            Show where a member is signed in; sessions revoke [ID] ends one or all
  sso connections create --oidc ISSUER Make a connection to an identity provider, with --client-id ID and
                                       --client-secret-file FILE; also list, show, enable, disable, remove,
                                       rotate-key, enforce ID --member OWNER, and relax
  sso connections create --saml URL    The same by SAML, of a description at an address or in a file; with
                                       --verifies-emails where nobody can have another's address there
  sso certificates ID                  Show which certificates of a provider are trusted
  sso explain FILE --connection ID     Show which rule an answer breaks that somebody has captured
  sso attempts ID                      Show why logins by a connection have failed
  domains add NAME                     Add a domain of e-mail addresses; also list, verify, trust and remove
  directory create --name NAME         Make a directory that tells who the members are, by SCIM, with --role ROLE for
                                       those in no mapped group; also list, remove ID, rotate ID [--overlap 7d]
  directory status ID                  Show what a directory has told, and what it was refused
  directory map ID GROUP --role ROLE   Say what a group's members are, with --project ID; --unmap takes it back, and
                                       --preview shows whom it would change
  management-keys create --name NAME   Make a key for programs that manage things, with --role ROLE, for the
                                       installation or one --organization ID; also list and revoke
  limits list                          Show the limits of an organization, its projects and its keys
  limits set [--model MODEL]           Set all of the organization's, or with --project ID or --key ID of these:
${describeOptions(limitFields)}
  limits remove ID                     Remove a limit
  tiers list                           Show the tiers, and the limits of the organizations in them
  tiers set TIER --model MODEL         Set all limits of a tier for a model, with the options of limits set
  tiers assign TIER                    Put an organization into a tier: --organization ID
  budgets list                         Show the budgets, and what is spent of them
  budgets set --period PERIOD          Set what may be spent in each day, week, month or year, or in a lifetime,
                                       also with --project ID or --key ID:
${describeOptions(budgetFields)}
  budgets raise ID --until TIME        Raise --amount or --tokens of one until then; --until now ends it
  budgets remove ID                    Remove a budget
  alerts list                          Show where alerts and usage go, with --organization ID or --installation
  alerts create --name NAME            Make a channel: --kind webhook|email|log, --address TO, --topics LIST
  alerts test ID                       Have a message sent over one; also enable, disable and remove ID
  alerts silence --for 8h              Have nothing delivered for so long: --reason TEXT, --topic TOPIC;
                                       silences lists them, and unsilence ID ends one
  audit-sinks list                     Show where the audit is pushed to, with --organization ID or --installation
  audit-sinks create --name NAME       Have it pushed to --address URL: --kind webhook|syslog, --format json|ocsf,
                                       --from now|begin, --header "Name: value", --ca FILE, --certificate FILE,
                                       --private-key FILE
  audit-sinks test ID                  Have a row pushed to one; also enable, disable and remove ID
  audit list [--json]                  Show who changed what, with --organization ID
  audit export                         Write it as JSON lines, with the hashes of what was deleted
  audit verify [--organization ID]     Check that the audit is as it was written, with --checkpoint FILE also that
                                       it begins with what was signed then; with --export FILE and --key VERIFIER
                                       an exported one, which needs no data folder
  audit keys, audit checkpoint         Show the keys that sign the audit, or sign what there is and show it
  audit verify --witness KEY           … and that so many witnesses have cosigned it: --quorum N; also with check
  audit witness create --folder FOLDER Make a witness: --name NAME; then audit witness --folder FOLDER runs it,
                                       with --host and --port
  audit sign create --key-file FILE    Make a key to sign the audit with elsewhere, and show it; audit sign
                                       --key-file FILE signs what it reads, for audit.signer in the config file
  audit prove ROW                      Write a proof that a row stands in the audit, with --organization ID
  audit check FILE --key VERIFIER      Check such a proof, which needs no data folder
  audit rotate-key                     Sign with a new key from now on
  audit accept-restore                 Sign again after an older database was restored, with --organization ID
  audit expire --days N                Delete older rows that are signed for; their hashes stay
  models [--json]                      Show the models and what is loaded
  models pull MODEL SOURCE             Fetch weights for a model from a hub (owner/repo/file.gguf)
                                       or an address: --sha256 HASH, --hub ADDRESS, --no-use
  models use MODEL FILE                Give a model a GGUF file, also while the service runs
  models use MODEL --built-in          Go back to the weights that come with Odyssey
  models inspect FILE [--json] [--chat JSON]
                                       Print what is derived from the chat template of a GGUF file
  connect                              List the clients that can be connected, with all options
  connect CLIENT [--write]             Print or write a client's settings, and try them with one call
  pools [--json]                       Show the pools and how each of their replicas is
  pools drain POOL ADDRESS             Give a replica nothing more; pools undrain gives it requests again
  pools roll POOL                      Replace the replicas that the service starts, one after another
  pools check ADDRESS --kind KIND      Find out whether a server can be a replica: --tokenizer FILE or --model NAME, --key-variable NAME
  queue [--json]                       Show who waits for which model, in order
  cache explain REQUEST [--json]       Say how much of a request's prompt was reused, and why no more
  prices list [--json]                 Show the prices of a million tokens, and from when on they count
  prices set MODEL                     Set one, with --input, --cache-read, --cache-write, --cache-write-long
                                       and --output: --from TIME, --organization ID; prices end MODEL ends it
  prices void PRICE                    Take back one that is not yet in force
  usage [--by key|project|model|day]   Add up tokens and cost: --from TIME, --to TIME, --organization ID,
                                       --csv or --json; --by user, or --by tag --tag KEY, for whom it was
  refusals [--by minute|hour|day]      Count the requests that were refused, by class: --from TIME, --to TIME,
                                       --organization ID, --csv or --json
  ledger export --csv|--json           Write every request, one line each: --from TIME, --to TIME
  bill verify [--json]                 Compute the cost of every request and every sum once more
  bill invoices                        Show the invoices of an organization, of months that are over: --organization ID
  bill invoice NUMBER                  Write one as it is signed, or with --csv, --json or, to be printed, --html
  bill prepay --amount AMOUNT          Write down what an organization has paid before, with --reason TEXT; bill adjust
                                       charges it beside its usage, or with an amount below zero spares it something
  bill rerate --dry-run                Say what it would have cost at other prices: --prices FILE, --from, --to
  sla report [--month 2026-11]         Show how available the models were to --organization ID; a month that is over
                                       is signed
  sla verify FILE [--key VERIFIER]     Compute a signed report once more from the ledger; sla keys shows who signs
  sla promise --availability PERCENT   Promise it from now on: --basis minutes|requests, --first-token MS, --credits
                                       STEPS, --from TIME, --organization ID; sla promises lists what is promised
  sla rules                            Write rules of burn rates for Prometheus, for what is promised
  sla announce --from T --until T      Announce maintenance, which does not count, with --reason TEXT; sla maintenance
                                       lists it, and sla withdraw ID takes it back
  doctor [--json]                      Say what is wrong with this installation and its machine, and what to do
  health [--alive]                     Ask the service of this data folder whether it can answer; for container
                                       managers, ends with 1 where it cannot or, with --alive, where it hangs
  migrate [--status]                   Bring the database's schema up to date, or show what is applied
  backup FILE                          Write everything into one file, also while the service runs
  restore FILE [--replace]             Fill the database from a backup, while the service is stopped
  import FILE [--replace]              Fill PostgreSQL (DATABASE_URL) from a SQLite file
  import litellm                       Say what would be made of a LiteLLM, or with --apply make it: --config FILE,
                                       --export FOLDER or --database-variable NAME, --model NAME=MODEL or
                                       --models FILE, --teams projects|organizations, --organization ID

Settings come from the environment (HOST, PORT, ODYSSEY_HOME, ODYSSEY_CONFIG, DATABASE_URL,
ODYSSEY_LOG_LEVEL, ODYSSEY_DASHBOARD, ODYSSEY_GPU, ODYSSEY_HUB or HF_ENDPOINT, HF_TOKEN) and from odyssey.json in the
data folder.`

const commandLine = /^ {2}\S/

/** The lines of one command, or null if there is none of that name. */
export function usageOf(command: string): string | null {
  const lines: string[] = []
  let isOfCommand = false
  for (const line of usage.split('\n')) {
    // What goes on in the next line is indented further.
    if (commandLine.test(line) || line === '') isOfCommand = line.startsWith(`  ${command} `)
    if (isOfCommand) lines.push(line)
  }
  if (lines.length === 0) return null
  return ['Usage:', '', ...lines, '', 'odyssey --help lists all commands.'].join('\n')
}
