import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { Facts } from "../../parts/facts.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";

/** Sends the saved postback once with sample values, and shows what was sent and answered. */
export function PostbackTest({ id }: { readonly id: number }): ReactElement {
  const { api } = useMembership();
  const test = useWrite([], async () => {
    const params = { path: { id } };
    return (await read(api.POST("/postbacks/{id}/test", { params, body: {} }))).data;
  });
  return (
    <section className="stack tight">
      <h3>Test</h3>
      <p className="muted">
        Sends the saved postback once with sample values. The receiver may count a conversion.
      </p>
      <div className="row">
        <button
          type="button"
          className="button"
          disabled={test.isPending}
          onClick={() => test.mutate(undefined)}
        >
          {test.isPending ? "Waiting for the answer" : "Send a test"}
        </button>
      </div>
      {test.isError && <ProblemNotice error={test.error} />}
      {test.data !== undefined && (
        <div role="status" className="stack tight">
          <p className={test.data.error === "" ? "notice" : "notice bad"}>
            {test.data.error === ""
              ? `Taken: answer ${test.data.status ?? ""} after ${test.data.duration_ms} ms`
              : `Not taken: ${test.data.error}`}
          </p>
          <Facts
            facts={[
              ["Sent", <StrangerText key="sent" text={`${test.data.method} ${test.data.url}`} />],
              ...(test.data.body === ""
                ? []
                : ([["Body", <StrangerText key="body" text={test.data.body} />]] satisfies [
                    string,
                    ReactElement,
                  ][])),
              ...(test.data.answer === ""
                ? []
                : ([["Answer", <StrangerText key="answer" text={test.data.answer} />]] satisfies [
                    string,
                    ReactElement,
                  ][])),
            ]}
          />
        </div>
      )}
    </section>
  );
}
