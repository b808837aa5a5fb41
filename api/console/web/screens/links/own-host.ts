const KEY = "link-host";

/** The domain that somebody has chosen for links on this device; empty for the one that links have of themselves. */
export function ownHost(membershipId: number): string {
  try {
    return localStorage.getItem(keyOf(membershipId)) ?? "";
  } catch {
    // Storage is blocked: links have their own domain.
    return "";
  }
}

export function keepOwnHost(membershipId: number, host: string): void {
  try {
    localStorage.setItem(keyOf(membershipId), host);
  } catch {
    // Storage is blocked: the choice lasts as long as the screen.
  }
}

function keyOf(membershipId: number): string {
  return `${KEY} ${membershipId}`;
}
