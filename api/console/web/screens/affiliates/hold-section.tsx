import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import type { FormField } from "../../records/form-field.ts";
import { SettingsSection } from "../../records/settings-section.tsx";

const FIELDS: readonly FormField[] = [
  {
    name: "throttle_percent",
    label: "Throttle (% unpaid)",
    kind: "number",
    hint: "0 to 100",
  },
  {
    name: "hold_days",
    label: "Days that conversions are held",
    kind: "number",
    isNullable: true,
    hint: "Empty: as the offer says",
  },
];

/** How a partner's conversions are held back. */
export function HoldSection({
  id,
  mayWrite,
}: {
  readonly id: number;
  readonly mayWrite: boolean;
}): ReactElement {
  const { api } = useMembership();
  const params = { path: { id: String(id) } };
  return (
    <SettingsSection
      title="Hold and throttle"
      name="affiliate-settings"
      id={id}
      fields={FIELDS}
      mayWrite={mayWrite}
      load={async (signal) =>
        (await read(api.GET("/affiliates/{id}/settings", { params, signal }))).data
      }
      save={async (body) => await read(api.PATCH("/affiliates/{id}/settings", { params, body }))}
    />
  );
}
