import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { SafeLink } from "../../parts/safe-link.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { ChildRecords } from "../../records/child-records.tsx";
import type { FormField } from "../../records/form-field.ts";

const FIELDS: readonly FormField[] = [
  { name: "name", label: "Name", required: true },
  {
    name: "kind",
    label: "Kind",
    choices: [
      ["image", "Image"],
      ["html", "HTML"],
      ["text", "Text"],
      ["link", "Link"],
      ["email", "E-mail"],
    ],
  },
  { name: "url", label: "Address of the image or page" },
  { name: "body", label: "Text or HTML", kind: "area" },
  { name: "width", label: "Width in pixels", kind: "number" },
  { name: "height", label: "Height in pixels", kind: "number" },
  {
    name: "status",
    label: "Status",
    choices: [
      ["active", "Active"],
      ["inactive", "Inactive"],
    ],
  },
];

/** Banners, links and texts of an offer. Images are not loaded, because a stranger's server would learn who looks. */
export function OfferCreatives({
  id,
  mayWrite,
}: {
  readonly id: number;
  readonly mayWrite: boolean;
}): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const path = { id: String(id) };
  const creatives = useRecord(membership, {
    name: "creatives",
    id,
    load: async (signal) =>
      (await read(api.GET("/offers/{id}/creatives", { params: { path }, signal }))).data,
  });
  if (creatives.isError) return <ProblemNotice error={creatives.error} />;
  return (
    <ChildRecords
      title="Creatives"
      noun="a creative"
      names={["creatives"]}
      rows={creatives.data ?? []}
      keyOf={({ name }) => name}
      show={(row) => (
        <>
          <StrangerText text={row.name} /> <StatusBadge status={row.status} />
          <div className="muted break">
            {row.kind}
            {row.width > 0 && `, ${row.width} × ${row.height}`}{" "}
            {row.url !== "" && <SafeLink href={row.url} />}
          </div>
        </>
      )}
      fields={FIELDS}
      initial={{ kind: "image", status: "active" }}
      mayWrite={mayWrite}
      create={async (body) =>
        await read(
          api.POST("/offers/{id}/creatives", {
            params: { path },
            body: { name: "", kind: "image", ...body },
          }),
        )
      }
      update={async (row, body) =>
        await read(api.PATCH("/creatives/{id}", { params: { path: { id: row.id } }, body }))
      }
      remove={async (row) =>
        await read(api.DELETE("/creatives/{id}", { params: { path: { id: row.id } } }))
      }
    />
  );
}
