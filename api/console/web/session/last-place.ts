const KEY = "last-place";

/** The address of the membership that this browser showed last. Null before the first one. */
export function lastPlace(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    // Storage is blocked: the first membership opens.
    return null;
  }
}

export function rememberPlace(base: string): void {
  try {
    localStorage.setItem(KEY, base);
  } catch {
    // Storage is blocked: nothing is remembered.
  }
}

/** After somebody has joined: the place of before must not hide the new one. */
export function forgetPlace(): void {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Storage is blocked: nothing was remembered.
  }
}
