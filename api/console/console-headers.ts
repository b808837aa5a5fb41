/**
 * Headers of everything below `/console/`. Scripts, styles and requests come from this origin only, no text becomes a script (P42), and no
 * other page may embed or open the console.
 */
export function consoleHeaders(apiUrl: string): Readonly<Record<string, string>> {
  return {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "x-content-type-options": "nosniff",
    ...(apiUrl.startsWith("https:")
      ? { "strict-transport-security": `max-age=${YEAR_SECONDS}` }
      : {}),
  };
}

const YEAR_SECONDS = 31_536_000;

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");
