import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { GuideLink } from "../../parts/guide-link.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { SecretText } from "../../parts/secret-text.tsx";

/** The token that reports conversions of every offer, and how to replace it. */
export function WorkspaceToken({ token }: { readonly token: string }): ReactElement {
  const { api } = useMembership();
  const rotate = useWrite(["workspace"], async () => {
    await read(api.POST("/workspace/rotate-postback-token"));
  });
  return (
    <section className="panel stack narrow" id="postback-token">
      <header className="row wrap">
        <h2 className="grow">Postback token</h2>
        <GuideLink href="/docs/postback">How to use it</GuideLink>
      </header>
      <p className="muted">
        Reports conversions of every offer and may set a payout. Advertisers have tokens of their
        own, which count for their offers only.
      </p>
      {rotate.isError && <ProblemNotice error={rotate.error} />}
      {rotate.isSuccess && <p role="status">The new token works from now on.</p>}
      <SecretText key={token} secret={token} name="token" />
      <div className="row">
        <ConfirmButton
          label="Replace it"
          question="The current token stops working immediately."
          isBusy={rotate.isPending}
          onConfirm={() => rotate.mutate(undefined)}
        />
      </div>
    </section>
  );
}
