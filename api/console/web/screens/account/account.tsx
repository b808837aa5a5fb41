import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { Facts } from "../../parts/facts.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { countryChoices } from "../../records/known-choices.ts";
import { type FormBody, type FormField, RecordForm } from "../../records/record-form.tsx";
import { PaymentMethodPart } from "../payouts/payment-method.tsx";

const HEIGHT = 320;
const OF_BOTH: readonly FormField[] = [
  { name: "company", label: "Company" },
  { name: "contact_name", label: "Contact" },
  { name: "phone", label: "Phone" },
  { name: "website", label: "Website" },
  { name: "country", label: "Country", load: countryChoices },
];
const OF_PARTNERS: readonly FormField[] = [
  { name: "messenger", label: "Messenger" },
  { name: "traffic_sources", label: "Where your visitors come from", kind: "area" },
];

/** The own account of a partner or an advertiser. */
export function Account(): ReactElement {
  const membership = useMembership();
  const { api, role } = membership;
  const record = useRecord(membership, {
    name: "profile",
    id: "own",
    load: async (signal) => (await read(api.GET("/me/profile", { signal }))).data,
  });
  const save = useWrite(["profile"], async (body: FormBody) => {
    await read(api.PATCH("/me/profile", { body }));
  });
  const profile = record.data;
  return (
    <>
      <h1>Profile</h1>
      {record.isError && <ProblemNotice error={record.error} />}
      {profile === undefined && !record.isError && <Skeleton height={HEIGHT} />}
      {profile !== undefined && (
        <section className="panel stack narrow">
          <Facts
            facts={[
              ["Name", profile.name],
              ["E-mail", profile.email],
            ]}
          />
          <RecordForm
            key={profile.updated_at}
            fields={role === "partner" ? [...OF_BOTH, ...OF_PARTNERS] : OF_BOTH}
            initial={profile}
            submit="Save"
            onSubmit={async (body) => await save.mutateAsync(body)}
          />
          {save.isSuccess && <p role="status">Saved.</p>}
        </section>
      )}
      {role === "partner" && <PaymentMethodPart />}
    </>
  );
}
