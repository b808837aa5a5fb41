import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { formatInstant } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { Drawer } from "../../parts/drawer.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { type FormBody, type FormField, RecordForm } from "../../records/record-form.tsx";
import type { Offer } from "../offers/offer.ts";

type AccessForm = components["schemas"]["AccessForm"];
type Question = AccessForm["questions"][number];

const NAMES = ["offers", "access-form", "terms"];

/** Terms to accept, questions to answer, and the request itself. */
export function AskForAccess({
  offer,
  onClose,
}: {
  readonly offer: Offer;
  readonly onClose: () => void;
}): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const params = { path: { id: String(offer.id) } };
  const form = useRecord(membership, {
    name: "access-form",
    id: offer.id,
    load: async (signal) =>
      (await read(api.GET("/offers/{id}/access-request", { params, signal }))).data,
  });
  return (
    <Drawer title={offer.name} onClose={onClose}>
      <Terms offer={offer} />
      {form.isError && <ProblemNotice error={form.error} />}
      {form.data !== undefined && <Request offer={offer} form={form.data} onDone={onClose} />}
    </Drawer>
  );
}

/** What the partner must accept before it runs the offer. */
export function Terms({
  offer,
  none,
}: {
  readonly offer: Offer;
  /** Said where the offer has no terms. */
  readonly none?: string;
}): ReactElement | null {
  const membership = useMembership();
  const { api } = membership;
  const params = { path: { id: String(offer.id) } };
  const terms = useRecord(membership, {
    name: "terms",
    id: offer.id,
    load: async (signal) => (await read(api.GET("/offers/{id}/terms", { params, signal }))).data,
  });
  const accept = useWrite(NAMES, async (hash: string) => {
    await read(api.POST("/offers/{id}/accept-terms", { params, body: { hash } }));
  });
  if (terms.isError) return <ProblemNotice error={terms.error} />;
  const { terms: text = null, hash = null, accepted = false } = terms.data ?? {};
  if (text === null || hash === null)
    return none === undefined || terms.data === undefined ? null : <p className="muted">{none}</p>;
  return (
    <section className="stack tight">
      <h3>Terms</h3>
      <div className="answer">
        <StrangerText text={text} />
      </div>
      {accept.isError && <ProblemNotice error={accept.error} />}
      {accepted ? (
        <p className="muted">You have accepted these terms.</p>
      ) : (
        <div className="row">
          <button
            type="button"
            className="button"
            disabled={accept.isPending}
            onClick={() => accept.mutate(hash)}
          >
            Accept the terms
          </button>
        </div>
      )}
    </section>
  );
}

function Request({
  offer,
  form: { questions, request, can_request: canRequest, can_request_from: from },
  onDone,
}: {
  readonly offer: Offer;
  readonly form: AccessForm;
  readonly onDone: () => void;
}): ReactElement {
  const { api, zone } = useMembership();
  const params = { path: { id: String(offer.id) } };
  const ask = useWrite(NAMES, async ({ message = "", ...answers }: FormBody) => {
    await read(
      api.POST("/offers/{id}/access-request", {
        params,
        body: { message: String(message), answers: answersOf(questions, answers) },
      }),
    );
    onDone();
  });
  const withdraw = useWrite(NAMES, async () => {
    await read(api.DELETE("/offers/{id}/access-request", { params }));
    onDone();
  });
  return (
    <section className="stack">
      {request !== null && (
        <p>
          Your request: <StatusBadge status={request.status} />{" "}
          <StrangerText text={request.reply} />
        </p>
      )}
      {withdraw.isError && <ProblemNotice error={withdraw.error} />}
      {request?.status === "pending" && (
        <div className="row">
          <button type="button" className="button" onClick={() => withdraw.mutate(undefined)}>
            Take the request back
          </button>
        </div>
      )}
      {canRequest ? (
        <RecordForm
          fields={[...questions.map(fieldOf), { name: "message", label: "Message", kind: "area" }]}
          initial={{ ...request?.answers, message: request?.message }}
          submit={request?.status === "pending" ? "Change the request" : "Ask for access"}
          onSubmit={async (body) => await ask.mutateAsync(body)}
        />
      ) : (
        from !== null && (
          <p className="muted">You can ask again from {formatInstant(from, zone)}.</p>
        )
      )}
    </section>
  );
}

function fieldOf({ key, label, kind, required, options }: Question): FormField {
  const choices = options.map((option) => [option, option] as const);
  const shared = { name: key, label, required };
  switch (kind) {
    case "choice":
      return { ...shared, choices: [["", "Choose"], ...choices] };
    case "multi":
      return { ...shared, kind: "many", choices };
    case "boolean":
      return {
        ...shared,
        choices: [
          ["", "Choose"],
          ["yes", "Yes"],
          ["no", "No"],
        ],
      };
    case "long_text":
      return { ...shared, kind: "area" };
    case "number":
      return { ...shared, kind: "number" };
    case "text":
    case "url":
    case "country":
      return shared;
  }
}

/** Yes and no as true and false. */
function answersOf(questions: readonly Question[], answers: FormBody): Record<string, unknown> {
  const booleans = new Set(
    questions.filter(({ kind }) => kind === "boolean").map(({ key }) => key),
  );
  return Object.fromEntries(
    Object.entries(answers).map(([key, value]) => [
      key,
      booleans.has(key) ? value === "yes" : value,
    ]),
  );
}
