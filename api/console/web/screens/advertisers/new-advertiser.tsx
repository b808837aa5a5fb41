import type { ReactElement } from "react";
import { NEW_ADVERTISER } from "../../../../../.build/console/forms.js";
import { read } from "../../client/api-client.ts";
import { mayDo, useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import type { RecordBody } from "../../records/form-field.ts";
import type { FormStep } from "../../records/form-steps.ts";
import { NewPage } from "../../records/new-page.tsx";
import { ADVERTISER_LIST } from "./advertiser.ts";
import { BASICS, BILLING, CONTACT } from "./advertiser-fields.ts";

const STEPS: readonly FormStep[] = [
  {
    name: "basics",
    title: "Basics",
    about: "Who the advertiser is, in which currency it pays, and who looks after it.",
    fields: [...BASICS, ...BILLING],
  },
  { name: "contact", title: "Contact", about: "How the advertiser is reached.", fields: CONTACT },
];

/** Makes an advertiser in steps, with one request. */
export function NewAdvertiser(): ReactElement {
  const membership = useMembership();
  const { api, base } = membership;
  const create = useWrite(["advertisers"], async (body: RecordBody) => {
    const { data } = await read(api.POST("/advertisers", { body: { name: "", ...body } }));
    return `${base}/advertisers/${data.id}`;
  });
  return (
    <NewPage
      list={ADVERTISER_LIST}
      noun="advertiser"
      mayWrite={membership.role === "admin" && mayDo(membership, "advertisers.write")}
      steps={STEPS}
      initial={{ ...NEW_ADVERTISER, currency: membership.currency }}
      onCreate={create.mutateAsync}
    />
  );
}
