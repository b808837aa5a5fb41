import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { useWrite } from "../../client/use-write.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { type FormBody, type FormField, RecordForm } from "../../records/record-form.tsx";
import { useMembership } from "../../session/membership.ts";
import type { OwnMembership } from "../../session/use-session.ts";

type Role = OwnMembership["role"];

const EMAIL: FormField = { name: "email", label: "E-mail", required: true };
const OF_STAFF: readonly FormField[] = [
  EMAIL,
  {
    name: "role",
    label: "Role",
    choices: [
      ["analyst", "Analyst: reads everything"],
      ["admin", "Admin: changes everything"],
      ["partner", "Partner"],
      ["advertiser", "Advertiser"],
    ],
  },
  { name: "affiliate_id", label: "Partner ID", kind: "number", hint: "For the role Partner" },
  {
    name: "advertiser_id",
    label: "Advertiser ID",
    kind: "number",
    hint: "For the role Advertiser",
  },
];
const ROLES: readonly Role[] = ["admin", "analyst", "partner", "advertiser"];

/** Makes the link by which somebody joins. It is shown only once. */
export function InvitePerson({ onClose }: { readonly onClose: () => void }): ReactElement {
  const { api, role, session, membershipId } = useMembership();
  const [link, setLink] = useState("");
  const own = session.memberships.find(({ id }) => id === membershipId);
  const isStaff = role === "admin" || role === "analyst";
  const invite = useWrite(["invitations"], async (body: FormBody) => {
    const grant = isStaff ? grantOf(body) : ownGrant(role, own);
    const { data } = await read(
      api.POST("/invitations", { body: { email: String(body["email"] ?? ""), ...grant } }),
    );
    setLink(data.link ?? "");
  });
  return (
    <Drawer title="Invite a person" onClose={onClose}>
      {link === "" ? (
        <RecordForm
          fields={isStaff ? OF_STAFF : [EMAIL]}
          initial={{ role: "analyst" }}
          submit="Make the link"
          onSubmit={async (body) => await invite.mutateAsync(body)}
        />
      ) : (
        <div className="stack">
          <p>Send this link to the person. It works once, within 7 days, and is shown only now.</p>
          <div className="row wrap">
            <code className="grow break">{link}</code>
            <CopyButton label="Copy the link" text={link} />
          </div>
        </div>
      )}
    </Drawer>
  );
}

type Grant = {
  readonly role: Role;
  readonly affiliate_id: number | null;
  readonly advertiser_id: number | null;
};

function grantOf({ role: wanted, affiliate_id: partner, advertiser_id: other }: FormBody): Grant {
  return {
    role: ROLES.find((one) => one === wanted) ?? "analyst",
    affiliate_id: idOf(partner),
    advertiser_id: idOf(other),
  };
}

/** People of an account invite for their own account. */
function ownGrant(role: Role, own: OwnMembership | undefined): Grant {
  return {
    role,
    affiliate_id: own?.affiliate?.id ?? null,
    advertiser_id: own?.advertiser?.id ?? null,
  };
}

function idOf(value: FormBody[string] | undefined): number | null {
  return typeof value === "number" ? value : null;
}
