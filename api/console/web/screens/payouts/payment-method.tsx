import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { ChoiceField } from "../../parts/choice-field.tsx";
import { Facts } from "../../parts/facts.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import type { RecordBody } from "../../records/form-field.ts";
import { NestedForm } from "../../records/nested-form.tsx";
import { detailsFields, OWN_TAX, STAFF_TAX } from "./payment-fields.ts";
import { detailFacts, methodOf, type PaymentMethod } from "./payout.ts";
import { useMethods } from "./use-methods.ts";

const HEIGHT = 320;

/** How a partner is paid, and its tax. Without an id: the partner who looks. */
export function PaymentMethodPart({ id }: { readonly id?: number }): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const path = { id: String(id) };
  const { data, isError, error } = useRecord<PaymentMethod>(membership, {
    name: "payment-method",
    id: id ?? "own",
    load: async (signal) =>
      id === undefined
        ? (await read(api.GET("/me/payment-method", { signal }))).data
        : (await read(api.GET("/affiliates/{id}/payment-method", { params: { path }, signal })))
            .data,
  });
  const save = useWrite(["payment-method", "affiliate", "record-history"], async (body: Body) => {
    if (id === undefined) await read(api.PUT("/me/payment-method", { body }));
    else await read(api.PUT("/affiliates/{id}/payment-method", { params: { path }, body }));
  });
  if (isError) return <ProblemNotice error={error} />;
  if (data === undefined) return <Skeleton height={HEIGHT} />;
  const isOwn = id === undefined;
  return (
    <>
      <Details payment={data} onSave={save.mutateAsync} />
      <section className="panel stack narrow">
        <h2>Tax</h2>
        <NestedForm
          key={JSON.stringify(data.tax)}
          fields={[isOwn ? OWN_TAX : STAFF_TAX]}
          initial={isOwn ? { tax: { country: data.tax.country, vat_id: data.tax.vat_id } } : data}
          submit="Save tax"
          onSubmit={async ({ tax }) =>
            await save.mutateAsync({ payment_method: data.payment_method, ...asPart({ tax }) })
          }
        />
      </section>
    </>
  );
}

type Body = { readonly payment_method: PaymentMethod["payment_method"] };

/** Fields of the form as they are. The API judges them. */
function asPart(fields: Partial<RecordBody>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function Details({
  payment,
  onSave,
}: {
  readonly payment: PaymentMethod;
  readonly onSave: (body: Body) => Promise<unknown>;
}): ReactElement {
  const [chosen, setChosen] = useState(payment.payment_method);
  const [isChanging, setChanging] = useState(false);
  const { choices, wordsOf } = useMethods();
  const { has_details: hasDetails, held_until: heldUntil, payment_method: method } = payment;
  return (
    <section className="panel stack narrow">
      <h2>Payment details</h2>
      <Facts facts={[["Paid by", wordsOf(method)], ...detailFacts(payment.payment_details)]} />
      {!hasDetails && (
        <p className="notice warn">There are no details to pay to yet. Payouts wait until then.</p>
      )}
      {heldUntil !== null && (
        <p className="notice warn">
          <span>
            Payouts wait until <InstantText iso={heldUntil} />, because the details were changed.
            The wait protects the money if somebody else made the change.
          </span>
        </p>
      )}
      {isChanging ? (
        <>
          <ChoiceField
            label="Paid by"
            value={chosen}
            choices={choices}
            onChange={(value) => setChosen(methodOf(value) ?? chosen)}
          />
          <p className="muted">
            Enter all details: what was saved before is replaced. Payouts wait for some time after a
            change.
          </p>
          <NestedForm
            key={chosen}
            fields={[detailsFields(chosen)]}
            submit="Save details"
            onCancel={() => setChanging(false)}
            onSubmit={async ({ payment_details = {} }) => {
              await onSave({ payment_method: chosen, ...asPart({ payment_details }) });
              setChanging(false);
            }}
          />
        </>
      ) : (
        <div className="row">
          <button type="button" className="button" onClick={() => setChanging(true)}>
            Change details
          </button>
        </div>
      )}
    </section>
  );
}
