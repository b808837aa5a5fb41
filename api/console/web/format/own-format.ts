/** How the person wants dates and numbers. Undefined follows the browser, or for the zone the workspace. */
type OwnFormat = { readonly locale: string | undefined; readonly zone: string | undefined };

let chosen: OwnFormat = { locale: undefined, zone: undefined };

/** The choices of the person, as they are stored. What this browser does not know is left out, so that no date fails. */
export function chooseFormat(stored: {
  readonly locale?: string | undefined;
  readonly timezone?: string | undefined;
}): void {
  chosen = {
    locale: isKnown(() => new Intl.NumberFormat(stored.locale)) ? stored.locale : undefined,
    zone: isKnown(() => new Intl.DateTimeFormat("en", { timeZone: stored.timezone }))
      ? stored.timezone
      : undefined,
  };
}

export function ownLocale(): string | undefined {
  return chosen.locale;
}

/** Where the person reads clocks. Days of reports and caps stay days of the workspace. */
export function ownZone(): string | undefined {
  return chosen.zone;
}

function isKnown(format: () => unknown): boolean {
  try {
    format();
    return true;
  } catch {
    // A RangeError: the browser is older than the zone or the language.
    return false;
  }
}
