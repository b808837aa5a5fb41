/** The `event_code` of an override for all events that have the same type. No event has this code (G24). */
export const ALL_EVENTS = "*";

type OfEvent = { readonly code: string; readonly is_default: boolean };

/**
 * The payout of a partner for an event by an override; undefined if none applies. An override for the event wins over an override without a
 * code, which is for the default event. Last comes an override for all events of the same type (G199).
 */
export function ownPayout<Type extends string>(
  event: OfEvent & { readonly payout_type: string },
  overrides: readonly {
    readonly event_code: string | null;
    readonly payout_type: Type | null;
    readonly payout: string | null;
  }[],
): { readonly type: Type; readonly payout: string } | undefined {
  for (const code of codesFor(event)) {
    const override = overrides.find(({ event_code }) => event_code === code);
    if (override === undefined || override.payout_type === null || override.payout === null)
      continue;
    if (code !== ALL_EVENTS || override.payout_type === event.payout_type)
      return { type: override.payout_type, payout: override.payout };
  }
  return undefined;
}

/** The same for the revenue. Payout and revenue of an override apply independently (G46). */
export function ownRevenue<Type extends string>(
  event: OfEvent & { readonly revenue_type: string },
  overrides: readonly {
    readonly event_code: string | null;
    readonly revenue_type: Type | null;
    readonly revenue: string | null;
  }[],
): { readonly type: Type; readonly revenue: string } | undefined {
  for (const code of codesFor(event)) {
    const override = overrides.find(({ event_code }) => event_code === code);
    if (override === undefined || override.revenue_type === null || override.revenue === null)
      continue;
    if (code !== ALL_EVENTS || override.revenue_type === event.revenue_type)
      return { type: override.revenue_type, revenue: override.revenue };
  }
  return undefined;
}

function codesFor({ code, is_default: isDefault }: OfEvent): readonly (string | null)[] {
  return isDefault ? [code, null, ALL_EVENTS] : [code, ALL_EVENTS];
}
