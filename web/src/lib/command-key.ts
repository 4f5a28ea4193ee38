/** The key that goes with a letter for a shortcut, as this system's keyboards have it. */
export const commandKey = /Mac|iP/.test(navigator.platform) ? '⌘' : 'Ctrl '
