import { useState } from 'react'
import { api, type BodyOf } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { Form } from '../../app/sign-in-form.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Checkbox, Select, TextField } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'

type Props = {
  readonly organizationId: string
  readonly onClose: () => void
  readonly onMade: (connectionId: string) => void
}

/** What differs between providers: how one speaks, where its description is, and what has to be known beside it. */
const providers = [
  { value: 'okta', label: 'Okta', kind: 'oidc', issuer: 'https://NAME.okta.com' },
  {
    value: 'entra',
    label: 'Microsoft Entra',
    kind: 'oidc',
    issuer: 'https://login.microsoftonline.com/TENANT-ID/v2.0',
  },
  { value: 'google', label: 'Google Workspace', kind: 'oidc', issuer: 'https://accounts.google.com' },
  { value: 'keycloak', label: 'Keycloak', kind: 'oidc', issuer: 'https://HOST/realms/REALM' },
  { value: 'oidc', label: 'Another, by OpenID Connect', kind: 'oidc', issuer: 'https://idp.example.com' },
  { value: 'saml', label: 'Another, by SAML 2.0', kind: 'saml', issuer: '' },
] as const

type Provider = (typeof providers)[number]['value']

const hints: Readonly<Partial<Record<Provider, string>>> = {
  okta: 'Application → Sign On, or an authorization server’s address.',
  entra: 'With your own tenant’s id: common and organizations let every tenant in.',
  google: 'Everybody has this issuer, so your domain is asked for as well.',
}

export function ConnectDrawer({ organizationId, onClose, onMade }: Props) {
  const [chosen, setChosen] = useState<Provider>('okta')
  const provider = providers.find(({ value }) => value === chosen) ?? providers[0]
  return (
    <Drawer title="Connect an identity provider" isOpen onClose={onClose}>
      <Select label="Provider" value={chosen} choices={providers} onChoice={setChosen} />
      {provider.kind === 'oidc' ? (
        <OidcForm key={chosen} organizationId={organizationId} provider={provider} onMade={onMade} />
      ) : (
        <SamlForm organizationId={organizationId} onMade={onMade} />
      )}
    </Drawer>
  )
}

type FormProps = Pick<Props, 'organizationId' | 'onMade'>
type NewConnection = BodyOf<'POST /api/v1/organizations/{organizationId}/connections'>
type NewSaml = BodyOf<'POST /api/v1/organizations/{organizationId}/connections/saml'>

const somethingMissing = 'Something is missing above.'

/** The texts of a form by their names, each with what a refused change says of it. */
function useTexts<Name extends string>(
  known: Readonly<Record<Name, string>>,
  change: () => { faultOf(path: string): string | undefined },
) {
  const [texts, setTexts] = useState(known)
  return {
    given: () =>
      Object.fromEntries(Object.entries<string>(texts).map(([name, text]) => [name, text.trim()])) as Record<
        Name,
        string
      >,
    fieldOf: (name: Name) => ({
      autoComplete: 'off',
      value: texts[name],
      fault: change().faultOf(name),
      onText: (text: string) => setTexts((before) => ({ ...before, [name]: text })),
    }),
    hasAll: (...names: readonly Name[]) => names.every((name) => texts[name].trim() !== ''),
  }
}

function OidcForm({ organizationId, provider, onMade }: FormProps & { readonly provider: (typeof providers)[number] }) {
  const isGoogle = provider.value === 'google'
  const texts = { issuer: isGoogle ? provider.issuer : '', clientId: '', clientSecret: '', tenant: '' }
  const { given, fieldOf, hasAll } = useTexts(texts, () => change)
  const [makesMembers, setMakesMembers] = useState(false)
  const change = useChange(
    (body: NewConnection, options) =>
      api('POST /api/v1/organizations/{organizationId}/connections', { params: { organizationId }, body }, options),
    { touches: [['connections', organizationId]], onDone: ({ id }) => onMade(id) },
  )
  const reason = hasAll('issuer', 'clientId', 'clientSecret', ...(isGoogle ? (['tenant'] as const) : []))
    ? null
    : somethingMissing
  const send = () => {
    const { tenant, ...others } = given()
    return change.run({ name: provider.label, ...others, makesMembers, ...(tenant !== '' && { tenant }) })
  }
  return (
    <Form onSend={() => (reason === null ? send() : undefined)}>
      <ChangeProblem problem={change.problem} shown={['issuer', 'clientId', 'clientSecret', 'tenant']} />
      <TextField
        label="Issuer"
        placeholder={provider.issuer}
        hint={hints[provider.value] ?? 'Exactly as the provider’s description has it.'}
        {...fieldOf('issuer')}
      />
      {isGoogle && <TextField label="Domain of Google Workspace" {...fieldOf('tenant')} />}
      <TextField label="Client id" {...fieldOf('clientId')} />
      <TextField label="Client secret" type="password" {...fieldOf('clientSecret')} />
      <MakesMembers isOn={makesMembers} onChange={setMakesMembers} />
      <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
        Make the connection
      </Button>
    </Form>
  )
}

function SamlForm({ organizationId, onMade }: FormProps) {
  const { given, fieldOf, hasAll } = useTexts({ name: '', metadataUrl: '' }, () => change)
  const [verifiesEmails, setVerifiesEmails] = useState(false)
  const [makesMembers, setMakesMembers] = useState(false)
  const change = useChange(
    (body: NewSaml) =>
      api('POST /api/v1/organizations/{organizationId}/connections/saml', { params: { organizationId }, body }),
    { touches: [['connections', organizationId]], onDone: ({ id }) => onMade(id) },
  )
  const reason = hasAll('name', 'metadataUrl') ? null : somethingMissing
  const send = () => change.run({ ...given(), verifiesEmails, makesMembers })
  return (
    <Form onSend={() => (reason === null ? send() : undefined)}>
      <ChangeProblem problem={change.problem} shown={['name', 'metadataUrl']} />
      <TextField label="Name" {...fieldOf('name')} />
      <TextField
        label="Address of the provider’s metadata"
        placeholder="https://idp.example.com/metadata"
        {...fieldOf('metadataUrl')}
      />
      <Checkbox
        label="Nobody can have another’s e-mail address there"
        isOn={verifiesEmails}
        onChange={setVerifiesEmails}
        hint="Only then is anybody recognised by one."
      />
      <MakesMembers isOn={makesMembers} onChange={setMakesMembers} />
      <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
        Make the connection
      </Button>
    </Form>
  )
}

function MakesMembers(props: { readonly isOn: boolean; readonly onChange: (isOn: boolean) => void }) {
  return (
    <Checkbox
      {...props}
      label="Make members of people who are not known yet"
      hint="With an address of a verified domain. Where a directory makes them, leave it off."
    />
  )
}
