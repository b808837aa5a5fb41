const KEY = "reloaded-at";
/** If it fails again within this time, another reload would not help. */
const PAUSE_MS = 60_000;

/**
 * A release may remove files that an open page has not loaded yet. The page is then loaded again, once; if that does not help, the screen
 * says so.
 */
export function watchUpdates(): void {
  addEventListener("vite:preloadError", (event) => {
    if (!mayReload(Date.now())) return;
    // The import stays unfinished until the page is gone, so that no error flashes.
    event.preventDefault();
    location.reload();
  });
}

export function isMissingChunk(error: Error): boolean {
  return /dynamically imported module|importing a module script|preload CSS/i.test(error.message);
}

function mayReload(nowMs: number): boolean {
  try {
    const lastMs = Number(sessionStorage.getItem(KEY) ?? "0");
    sessionStorage.setItem(KEY, String(nowMs));
    return nowMs - lastMs > PAUSE_MS;
  } catch {
    // Storage is blocked, and without a mark the page might load again for ever.
    return false;
  }
}
