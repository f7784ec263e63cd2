// What an app learns of where it is shown.

const dark = matchMedia("(prefers-color-scheme: dark)");

// The variables of the extension, and the page's that say the same.
const variables = {
  "--color-background-primary": "--ground",
  "--color-background-secondary": "--raised",
  "--color-background-tertiary": "--sunken",
  "--color-text-primary": "--text",
  "--color-text-secondary": "--faint",
  "--color-text-tertiary": "--faint",
  "--color-text-danger": "--error",
  "--color-text-success": "--good",
  "--color-text-warning": "--warning",
  "--color-border-primary": "--line",
  "--color-border-secondary": "--line",
  "--color-ring-primary": "--accent",
  "--font-sans": "--sans",
  "--font-mono": "--mono",
};

/**
 * hostContext returns the context of an app in a frame of this width.
 *
 * Spec: extensions/apps 2026-01-26 specification#host-context-in-mcpuiinitializeresult.
 */
export function hostContext(width) {
  const style = getComputedStyle(document.documentElement);
  return {
    theme: dark.matches ? "dark" : "light",
    styles: { variables: Object.fromEntries(Object.entries(variables).map(([theirs, ours]) => [theirs, style.getPropertyValue(ours).trim()])) },
    displayMode: "inline",
    availableDisplayModes: ["inline"],
    containerDimensions: { width, maxHeight: 4000 },
    locale: navigator.language,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    userAgent: "parley-inspect",
    platform: "web",
    deviceCapabilities: { touch: navigator.maxTouchPoints > 0, hover: matchMedia("(hover: hover)").matches },
  };
}

/** onTheme calls f when the page changes between light and dark, until what it returns is called. */
export function onTheme(f) {
  dark.addEventListener("change", f);
  return () => dark.removeEventListener("change", f);
}
