import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import { type Api, read } from "../client/api-client.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { StrangerText } from "../parts/stranger-text.tsx";
import { type FormBody, type FormField, RecordForm } from "../records/record-form.tsx";
import { SinglePanel } from "./single-panel.tsx";

const FORM_HEIGHT = 480;
const FIELDS: readonly FormField[] = [
  { name: "name", label: "Name", hint: "Yours, or that of your publication", required: true },
  { name: "email", label: "E-mail", required: true },
  { name: "company", label: "Company" },
  { name: "website", label: "Website" },
  { name: "country", label: "Country", hint: "Two letters, such as DE" },
  { name: "messenger", label: "Messenger" },
  { name: "traffic_sources", label: "How you bring visitors", kind: "area" },
];

/** The page on which people ask to become partners of a workspace. */
export function SignUp({ api, slug }: { readonly api: Api; readonly slug: string }): ReactElement {
  const path = { slug, audience: "partner" };
  const form = useQuery({
    queryKey: ["sign-up", slug],
    retry: false,
    queryFn: async ({ signal }) =>
      (await read(api.GET("/signup/{slug}/{audience}", { params: { path }, signal }))).data,
  });
  // People do not see this field. If a program fills it in, as it does every field, nothing is kept.
  const [trap, setTrap] = useState("");
  const apply = useMutation({
    mutationFn: async (given: FormBody) => {
      const text = (name: string): string => String(given[name] ?? "");
      const body = {
        name: text("name"),
        email: text("email"),
        company: text("company"),
        website: text("website"),
        country: text("country").toUpperCase(),
        messenger: text("messenger"),
        traffic_sources: text("traffic_sources"),
        website_url2: trap,
      };
      await read(api.POST("/signup/{slug}/{audience}", { params: { path }, body }));
    },
  });
  if (form.isError) {
    return (
      <SinglePanel title="No sign-up here">
        <ProblemNotice error={form.error} />
        <p>Partners of this workspace come by invitation.</p>
      </SinglePanel>
    );
  }
  if (form.data === undefined) {
    return (
      <SinglePanel title="One moment">
        <Skeleton height={FORM_HEIGHT} />
      </SinglePanel>
    );
  }
  if (apply.isSuccess) {
    return (
      <SinglePanel title="Thank you">
        <p role="status">
          <StrangerText text={form.data.workspace} /> has your application. You will get a link to
          join when it is approved.
        </p>
      </SinglePanel>
    );
  }
  return (
    <SinglePanel title="Become a partner">
      <p className="muted">
        <StrangerText text={form.data.workspace} />
      </p>
      <input
        className="trap"
        name="website_url2"
        aria-hidden
        tabIndex={-1}
        autoComplete="off"
        value={trap}
        onChange={(event) => setTrap(event.currentTarget.value)}
      />
      <RecordForm
        fields={FIELDS}
        submit="Apply"
        onSubmit={async (body) => await apply.mutateAsync(body)}
      />
    </SinglePanel>
  );
}
