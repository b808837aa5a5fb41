const KEY = "reloaded-at";
/** If it fails again within this time, another reload would not help. */
const PAUSE_MS = 60_000;
let isLeaving = false;

/**
 * A release may remove files that an open page has not loaded yet. The page is then loaded again, once; if that does not help, the screen
 * says so.
 */
export function watchUpdates(): void {
  addEventListener("vite:preloadError", (event) => {
    if (!mayReload(Date.now())) return;
    event.preventDefault();
    isLeaving = true;
    location.reload();
  });
}

/** Whether this page is about to be replaced: what fails until then need not be shown. */
export function isBeingReplaced(): boolean {
  return isLeaving;
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
