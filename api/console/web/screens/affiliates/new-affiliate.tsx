import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import type { Choice } from "../../client/choices.ts";
import { mayDo, useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import type { FormField, RecordBody } from "../../records/form-field.ts";
import type { FormStep } from "../../records/form-steps.ts";
import { NewPage } from "../../records/new-page.tsx";
import { useMethods } from "../payouts/use-methods.ts";
import { PARTNER_LIST } from "./affiliate.ts";
import { ACCOUNT, CONTACT, MANAGER, NAME, STATUS, TERMS, WORK } from "./affiliate-fields.ts";

const CODE: FormField = {
  name: "code",
  label: "Code",
  hint: "Used in links: 6 to 10 letters or digits. Leave empty to generate one",
};

const stepsWith = (methods: readonly Choice[]): readonly FormStep[] => [
  {
    name: "basics",
    title: "Basics",
    about: "Who the partner is, and who looks after it.",
    fields: [NAME, CODE, STATUS, MANAGER, ...WORK],
  },
  { name: "contact", title: "Contact", about: "How the partner is reached.", fields: CONTACT },
  {
    name: "payment",
    title: "Payment",
    about: "How and when the partner is paid. Without a currency it is the workspace's.",
    fields: [{ name: "payment_method", label: "Paid by", choices: methods }, ...TERMS, ACCOUNT],
  },
];

const INITIAL = { status: "active", payment_method: "other", payment_terms: "net30" };

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
