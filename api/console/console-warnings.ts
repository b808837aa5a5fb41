import { isSessionSentToTracking } from "./shared-host.ts";

export type ConsoleWarning = {
  readonly name: string;
  readonly facts: Readonly<Record<string, string>>;
};

/** What an operator should know about the settings of the console when the api starts (G258). */
export function consoleWarnings({
  console: { secret },
  apiUrl,
  trackingUrl,
}: {
  readonly console: { readonly secret: string | undefined };
  readonly apiUrl: string;
  readonly trackingUrl: string;
}): ConsoleWarning[] {
  return [
    ...(isSessionSentToTracking({ apiUrl, trackingUrl })
      ? [{ name: "console.shares-its-host-with-tracking", facts: { apiUrl, trackingUrl } }]
      : []),
    ...(secret === undefined
      ? [
          {
            name: "console.no-second-factors",
            facts: {
              reason:
                "CONSOLE_SECRET is not set: nobody can set up codes, and codes that were set up with it before are refused.",
            },
          },
        ]
      : []),
  ];
}
