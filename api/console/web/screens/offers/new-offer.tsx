import type { ReactElement } from "react";
import { NEW_OFFER } from "../../../../../.build/console/forms.js";
import { read } from "../../client/api-client.ts";
import { type Membership, mayDo, useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import type { RecordBody } from "../../records/form-field.ts";
import { NewPage } from "../../records/new-page.tsx";
import { finish, type Remaining } from "../../records/unfinished.tsx";
import { OFFER_LIST } from "./offer.ts";
import { STEPS } from "./offer-steps.ts";

/** Makes an offer in steps, with one request, and then gives the partners access. */
export function NewOffer(): ReactElement {
  const membership = useMembership();
  const { api, base } = membership;
  const create = useWrite(["offers"], async ({ partners, ...terms }: RecordBody) => {
    const { data } = await read(
      api.POST("/offers", {
        body: { name: "", destination_url: "", advertiser_id: 0, ...terms },
      }),
    );
    const path = `${base}/offers/${data.id}`;
    const chosen = Array.isArray(partners) ? partners.map(String) : [];
    await finish(
      path,
      await Promise.all(chosen.map(async (one) => await accessFor(membership, data.id, one))),
    );
    return path;
  });
  return (
    <NewPage
      list={OFFER_LIST}
      noun="offer"
      mayWrite={membership.role === "admin" && mayDo(membership, "offers.write")}
      steps={STEPS}
      initial={NEW_OFFER}
      onCreate={create.mutateAsync}
    />
  );
}

/** Gives a partner access to the new offer. Its name is for the case that it fails. */
async function accessFor(membership: Membership, offer: number, id: string): Promise<Remaining> {
  const { api } = membership;
  const find = async (): Promise<{ readonly name: string; readonly code: string }> =>
    (await read(api.GET("/affiliates/{id}", { params: { path: { id } } }))).data;
  return {
    title: `Give access to ${await nameOf(find, id)}`,
    run: async () => {
      // Access is given by the code of the partner.
      const params = { path: { id: String(offer), affiliate: (await find()).code } };
      const body = { status: "approved" } as const;
      await read(api.PUT("/offers/{id}/affiliates/{affiliate}", { params, body }));
    },
  };
}

async function nameOf(find: () => Promise<{ readonly name: string }>, id: string): Promise<string> {
  try {
    return (await find()).name;
  } catch {
    return `the partner with the ID ${id}`;
  }
}
