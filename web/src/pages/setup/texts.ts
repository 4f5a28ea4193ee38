export const texts = {
  title: 'Set up Odyssey',
  said: 'You become the owner of this installation and of its first organization.',
  emailHint: 'You sign in with it. Nothing is sent to it.',
  organizationHint: 'Keys, projects, limits and bills belong to an organization. It can be renamed.',
  fieldsNeeded: 'Your name and your email are needed first.',
  done: 'Odyssey is set up',
  doneSaid: 'Somebody owns this installation already, so this link has no use any more.',
  noLink: 'This needs the link to set Odyssey up',
  noLinkSaid:
    'In a terminal Odyssey prints it when it starts, after “Set up in your browser”. It works once, for 24 hours; starting Odyssey again prints a new one.',
  noTerminalSaid: 'Where it runs without a terminal, as a service or in a container, this prints one:',
  linkCommand: 'npx odyssey owners link',
} as const
