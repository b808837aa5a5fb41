import type { ReactElement } from "react";
import { AFFILIATE, NEW_AFFILIATE } from "../../../../../.build/console/forms.js";
import { read } from "../../client/api-client.ts";
import type { Choice } from "../../client/choices.ts";
import { mayDo, useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import type { RecordBody } from "../../records/form-field.ts";
import type { FormStep } from "../../records/form-steps.ts";
import { NewPage } from "../../records/new-page.tsx";
import { useMethods } from "../payouts/use-methods.ts";
import { PARTNER_LIST } from "./affiliate.ts";
import { ACCOUNT, CONTACT, TERMS, WORK } from "./affiliate-fields.ts";

const stepsWith = (methods: readonly Choice[]): readonly FormStep[] => [
  {
    name: "basics",
    title: "Basics",
    about: "Who the partner is, and who looks after it.",
    fields: [...AFFILIATE.name, ...AFFILIATE.code, ...WORK],
  },
  { name: "contact", title: "Contact", about: "How the partner is reached.", fields: CONTACT },
  {
    name: "payment",
    title: "Payment",
    about: "How and when the partner is paid. Without a currency it is the workspace's.",
    fields: [{ name: "payment_method", label: "Paid by", choices: methods }, ...TERMS, ACCOUNT],
  },
];

const INITIAL = { ...NEW_AFFILIATE, payment_method: "other" };

/** Makes a partner in steps, with one request. */
export function NewAffiliate(): ReactElement {
  const membership = useMembership();
  const { api, base } = membership;
  const { choices } = useMethods();
  const create = useWrite(["affiliates"], async (body: RecordBody) => {
    const { data } = await read(api.POST("/affiliates", { body: { name: "", ...body } }));
    return `${base}/partners/${data.id}`;
  });
  return (
    <NewPage
      list={PARTNER_LIST}
      noun="partner"
      mayWrite={membership.role === "admin" && mayDo(membership, "affiliates.write")}
      steps={stepsWith(choices)}
      initial={INITIAL}
      onCreate={create.mutateAsync}
    />
  );
}
