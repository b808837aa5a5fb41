import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { SecretText } from "../../parts/secret-text.tsx";
import type { Advertiser } from "./advertiser.ts";
import { AddressSection } from "./budget-section.tsx";

/** How the advertiser reports conversions: its token, and from where it may. */
export function AdvertiserIntegration({
  advertiser,
  mayWrite,
}: {
  readonly advertiser: Advertiser;
  readonly mayWrite: boolean;
}): ReactElement {
  const { id, postback_token: token } = advertiser;
  return (
    <div className="columns apart">
      {token !== undefined && <Token id={id} token={token} mayWrite={mayWrite} />}
      <AddressSection id={id} mayWrite={mayWrite} />
    </div>
  );
}

function Token({
  id,
  token,
  mayWrite,
}: {
  readonly id: number;
  readonly token: string;
  readonly mayWrite: boolean;
}): ReactElement {
  const { api } = useMembership();
  const rotate = useWrite(["advertiser", "record-history"], async () => {
    const params = { path: { id } };
    await read(api.POST("/advertisers/{id}/rotate-postback-token", { params }));
  });
  return (
    <section className="panel stack">
      <h2>Postback token</h2>
      <p className="muted">It stands in the advertiser's reports of conversions.</p>
      <SecretText key={token} secret={token} name="token" />
      {rotate.isError && <ProblemNotice error={rotate.error} />}
      {mayWrite && (
        <div className="row wrap">
          <ConfirmButton
            label="Replace it"
            question="The current token stops working within a second. The advertiser can replace it without a gap."
            isBusy={rotate.isPending}
            onConfirm={() => rotate.mutate(undefined)}
          />
        </div>
      )}
    </section>
  );
}
