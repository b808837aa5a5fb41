import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import type { FormField } from "../../records/form-field.ts";
import { SettingsSection } from "../../records/settings-section.tsx";
import { CapMeters } from "../offers/cap-meters.tsx";
import { capsField } from "../offers/caps-field.ts";

const BUDGET: readonly FormField[] = [capsField("budget_caps", "Budget")];
const ADDRESSES: readonly FormField[] = [
  {
    name: "postback_ip_allowlist",
    label: "Addresses that may report sales, one in each line. Empty: any",
    kind: "lines",
  },
];

type SectionProps = { readonly id: number; readonly mayWrite: boolean };

/** What an advertiser spends at most, and how much of it is used. */
export function BudgetSection({ id, mayWrite }: SectionProps): ReactElement {
  return (
    <AdvertiserSettings title="Budget" fields={BUDGET} {...{ id, mayWrite }}>
      <CapMeters
        query={{ advertiser_id: String(id) }}
        title="Used"
        none={<p className="muted">No budget: nothing is refused.</p>}
      />
    </AdvertiserSettings>
  );
}

/** From where an advertiser may report. */
export function AddressSection({ id, mayWrite }: SectionProps): ReactElement {
  return <AdvertiserSettings title="Addresses" fields={ADDRESSES} {...{ id, mayWrite }} />;
}

function AdvertiserSettings({
  id,
  ...section
}: SectionProps &
  Pick<Parameters<typeof SettingsSection>[0], "title" | "fields" | "children">): ReactElement {
  const { api } = useMembership();
  const params = { path: { id } };
  return (
    <SettingsSection
      {...section}
      name="advertiser-settings"
      id={id}
      load={async (signal) =>
        (await read(api.GET("/advertisers/{id}/settings", { params, signal }))).data
      }
      save={async (body) => await read(api.PATCH("/advertisers/{id}/settings", { params, body }))}
    />
  );
}
