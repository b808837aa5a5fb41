import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import type { FormField } from "../../records/form-field.ts";
import { SettingsSection } from "../../records/settings-section.tsx";
import { capsField } from "../offers/caps-field.ts";

const FIELDS: readonly FormField[] = [
  {
    name: "postback_ip_allowlist",
    label: "Addresses that may report sales, one in each line. Empty: any",
    kind: "lines",
  },
  capsField("budget_caps", "Budget"),
];

/** From where an advertiser reports, and what it spends at most. */
export function BudgetSection({
  id,
  mayWrite,
}: {
  readonly id: number;
  readonly mayWrite: boolean;
}): ReactElement {
  const { api } = useMembership();
  const params = { path: { id } };
  return (
    <SettingsSection
      title="Budget and addresses"
      name="advertiser-settings"
      id={id}
      fields={FIELDS}
      mayWrite={mayWrite}
      load={async (signal) =>
        (await read(api.GET("/advertisers/{id}/settings", { params, signal }))).data
      }
      save={async (body) => await read(api.PATCH("/advertisers/{id}/settings", { params, body }))}
    />
  );
}
