import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { formatInstant } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { GuideLink } from "../../parts/guide-link.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { SecretText } from "../../parts/secret-text.tsx";
import { useOwnToken } from "./use-own-token.ts";

const GRACE_HOURS = 24;

/** The token in the advertiser's reports of conversions, and how to replace it. */
export function PostbackToken(): ReactElement {
  const { api, zone } = useMembership();
  const token = useOwnToken();
  const rotate = useWrite(["postback-token"], async () => {
    await read(api.POST("/me/postback-token/rotate", { body: { grace_hours: GRACE_HOURS } }));
  });
  return (
    <section className="panel stack narrow">
      <header className="row wrap">
        <h2 className="grow">Postback token</h2>
        <GuideLink href="/docs/postback">How to use it</GuideLink>
      </header>
      {token.isError && <ProblemNotice error={token.error} />}
      {rotate.isError && <ProblemNotice error={rotate.error} />}
      {token.data !== undefined && (
        <>
          <SecretText secret={token.data.postback_token} name="token" />
          {token.data.old_tokens.map(({ ends_with: end, good_until: until }) => (
            <p key={end} className="muted">
              The token that ends with {end} works until {formatInstant(until, zone)}.
            </p>
          ))}
          {token.data.may_rotate && (
            <div className="row wrap">
              <button
                type="button"
                className="button"
                disabled={rotate.isPending}
                onClick={() => rotate.mutate(undefined)}
              >
                Replace it
              </button>
              <span className="muted">
                The current token works for {GRACE_HOURS} more hours then.
              </span>
            </div>
          )}
        </>
      )}
    </section>
  );
}
