import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { advertiserChoices } from "../../client/choices.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { Drawer } from "../../parts/drawer.tsx";
import { type FormBody, type FormField, RecordForm } from "../../records/record-form.tsx";
import { OFFER_FIELDS } from "./offer-fields.ts";

const CODE: FormField = {
  name: "code",
  label: "Code",
  hint: "Used in links. Leave empty to generate one",
};
const INITIAL = { status: "active", visibility: "public", payout_type: "cpa", revenue_type: "rpa" };

const ADVERTISER: FormField = {
  name: "advertiser_id",
  label: "Advertiser",
  kind: "record",
  load: advertiserChoices,
};
const FIELDS = [ADVERTISER, ...OFFER_FIELDS.toSpliced(1, 0, CODE)];

/** Makes an offer. Everything else is set on the offer itself. */
export function NewOffer({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (id: number) => void;
}): ReactElement {
  const membership = useMembership();
  const { api, currency: usual } = membership;
  const create = useWrite(["offers"], async (body: FormBody) => {
    const {
      name = "",
      destination_url: destination = "",
      advertiser_id: advertiser,
      ...more
    } = body;
    const { data } = await read(
      api.POST("/offers", {
        body: {
          currency: usual,
          ...more,
          name: String(name),
          destination_url: String(destination),
          advertiser_id: Number(advertiser),
        },
      }),
    );
    onMade(data.id);
  });
  return (
    <Drawer title="New offer" onClose={onClose}>
      <RecordForm
        fields={FIELDS}
        initial={INITIAL}
        submit="Create the offer"
        onSubmit={async (body) => await create.mutateAsync({ ...INITIAL, ...body })}
      />
    </Drawer>
  );
}
