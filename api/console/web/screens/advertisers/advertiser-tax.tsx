import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import type { FormField } from "../../records/form-field.ts";
import { countryChoices } from "../../records/known-choices.ts";
import { SettingsSection } from "../../records/settings-section.tsx";

const MODES = [
  ["none", "No tax"],
  ["domestic", "Domestic tax"],
  ["reverse_charge", "Reverse charge"],
  ["exempt", "Exempt"],
] as const;

const FIELDS: readonly FormField[] = [
  { name: "mode", label: "Tax on invoices", choices: MODES },
  {
    name: "rate",
    label: "Rate in percent",
    hint: "Such as 19",
    onlyFor: { name: "mode", value: "domestic" },
  },
  { name: "country", label: "Country", load: countryChoices },
  { name: "vat_id", label: "VAT ID" },
];

/** How the invoices of an advertiser are taxed. */
export function AdvertiserTax({
  id,
  mayWrite,
}: {
  readonly id: number;
  readonly mayWrite: boolean;
}): ReactElement {
  const { api } = useMembership();
  const params = { path: { id } };
  const load = async (signal?: AbortSignal) =>
    (await read(api.GET("/advertisers/{id}/tax", { params, ...(signal && { signal }) }))).data;
  return (
    <SettingsSection
      title="Tax"
      name="advertiser-tax"
      id={id}
      fields={FIELDS}
      mayWrite={mayWrite}
      load={load}
      save={async (changed) => {
        // The API takes the whole record; the form sends what was changed.
        const { mode, country, vat_id, rate } = await load();
        const body = { mode, country, vat_id, rate, ...changed };
        const sent = body.mode === "domestic" ? body : { ...body, rate: "0" };
        await read(api.PUT("/advertisers/{id}/tax", { params, body: sent }));
      }}
    />
  );
}
